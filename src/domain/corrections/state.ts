/** For whom a query counts after corrections. */
import type { CorrectionAction } from './correction.js';

export interface QueryState {
  /** For whom it counts, or would if it were not withdrawn. */
  readonly caller: string;
  readonly isWithdrawn: boolean;
}

/** A correction of a query that was not undone. */
export interface Applied {
  readonly action: Exclude<CorrectionAction, 'undo'>;
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
