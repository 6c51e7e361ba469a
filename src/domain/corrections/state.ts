/** For whom a query counts after corrections. */

export interface QueryState {
  /** For whom it counts, or would if it were not withdrawn. */
  readonly caller: string;
  readonly isWithdrawn: boolean;
}

/**
 * What a query was before its first change on a UTC day. Noted when telemetry tells more of it on a later day than that of its arrival,
 * or after a correction, and from then on also when a correction changes it.
 */
export interface KnownState extends QueryState {
  readonly day: number;
  /** Whether corrections had changed it by then: before the first of these days, they tell what it was. */
  readonly isCorrected: boolean;
}

/** A correction of a query that was not undone. */
export interface Applied {
  readonly action: 'withdraw' | 'rename';
  /** The caller of a rename. */
  readonly to: string | undefined;
}

/** A withdrawn query is not renamed. */
export function correct(state: QueryState, { action, to }: Applied): QueryState {
  if (state.isWithdrawn) return state;
  return action === 'withdraw' ? { ...state, isWithdrawn: true } : { ...state, caller: to ?? state.caller };
}

export function isSameState(one: QueryState, other: QueryState): boolean {
  return one.caller === other.caller && one.isWithdrawn === other.isWithdrawn;
}
