/**
 * What a project's queries were at a moment, and what has changed since. Each change is one of an event, so that the changes of a
 * query add up to the difference between then and now.
 */
import type { Steps } from '../../shared/steps.js';
import type { CorrectionAction } from '../corrections/correction.js';
import { Effect } from '../corrections/effect.js';
import {
  type Applied,
  correct,
  isSameState,
  type KnownState,
  type QueryState,
} from '../corrections/state.js';
import { dayOf } from '../queries/receipt.js';

/** Queries that are alike, as they count now. */
export interface PastQueries extends QueryState {
  readonly queries: number;
  /** When the first and the last of them occurred. */
  readonly first: number;
  readonly last: number;
  /** Their sender if they arrived since the moment; null if before. */
  readonly arrivedFrom: string | null;
  /** Ascending by day; none if telemetry has told no more of them, or only on the day of their arrival. */
  readonly known: readonly KnownState[];
  /** The numbers of the corrections that changed them, ascending. */
  readonly corrections: readonly number[];
  /** For whom they counted before the first of these; as now if there are none. */
  readonly firstCaller: string;
}

/** A correction, as history needs it. */
export interface PastCorrection {
  /** Ascends within the project. */
  readonly number: number;
  readonly id: string;
  readonly action: CorrectionAction;
  /** The caller of a rename. */
  readonly to: string | null;
  /** The id of the correction that undoes it. */
  readonly undoneBy: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
  /** Null while it is carried out. */
  readonly finishedAt: number | null;
}

/** What can change a count. Answers list those that are there, and later versions may have more. */
export const CHANGE_CAUSES = {
  recorded: 'Queries that occurred since then.',
  recordedLate: 'Queries that had occurred before, and were recorded since.',
  known: 'Queries in telemetry whose caller became known later, or that they are others or none.',
  imported: 'Queries of an import or a copy, and imported counts.',
  withdrawn: 'Queries that a correction has withdrawn.',
  renamed: 'Queries that a correction has given another caller.',
  undone: 'Queries that an undo has given back what a correction had changed.',
} as const;

export type ChangeCause = keyof typeof CHANGE_CAUSES;

/** A part of a change: so many queries more, or fewer, of a caller. */
export interface Change {
  readonly cause: ChangeCause;
  /** The sender of what was recorded, or who has corrected. Imported counts have `counts:` and their source. */
  readonly by: string;
  /** The id of the correction. */
  readonly correction: string | null;
  readonly caller: string;
  readonly queries: number;
}

/** A change to another state. */
interface Stage extends Pick<Change, 'cause' | 'by' | 'correction'> {
  readonly to: QueryState;
}

/** A correction or an undo, and the number of the correction that is made or taken back. */
interface CorrectionEvent {
  readonly by: PastCorrection;
  readonly changed: number;
}

const FROM_TELEMETRY = { cause: 'known', by: 'telemetry', correction: null } as const;

const CAUSES: Readonly<Record<CorrectionAction, ChangeCause>> = {
  withdraw: 'withdrawn',
  rename: 'renamed',
  undo: 'undone',
};

/** The sender of imported counts. */
export function senderOfCounts(source: string): string {
  return `counts:${source}`;
}

/** How many are added at a time, in about a millisecond. */
const correctionsInStep = 2_000;

export class Timeline {
  readonly #atMs: number;
  readonly #day: number;
  readonly #byNumber = new Map<number, PastCorrection>();
  readonly #byId = new Map<string, PastCorrection>();
  #unclear: PastCorrection | undefined;

  constructor(atMs: number) {
    this.#atMs = atMs;
    this.#day = dayOf(atMs);
  }

  /** Adds the corrections of the project, which may be any number. */
  *add(corrections: readonly PastCorrection[]): Steps<void> {
    for (const [at, one] of corrections.entries()) {
      this.#byNumber.set(one.number, one);
      this.#byId.set(one.id, one);
      if (one.createdAt < this.#atMs && !this.#isBefore(one)) this.#unclear ??= one;
      if (at % correctionsInStep === correctionsInStep - 1) yield;
    }
  }

  /** Whether it knows the corrections of these queries. */
  knows({ corrections }: PastQueries): boolean {
    return corrections.every((number) => this.#byNumber.has(number));
  }

  /** A correction that was being carried out at the moment, when it had changed some of its queries and others not. */
  get unclear(): PastCorrection | undefined {
    return this.#unclear;
  }

  /** For whom these queries counted then; undefined if they did not. */
  callerThen(queries: PastQueries): string | undefined {
    return queries.arrivedFrom === null ? countedCaller(this.#stateThen(queries)) : undefined;
  }

  /** What has changed since, one after the other: of queries that were corrected often, there is much. */
  *changes(queries: PastQueries): Generator<Change, void> {
    let state = queries.arrivedFrom === null ? this.#stateThen(queries) : undefined;
    for (const { to, ...part } of this.#stages(queries)) {
      yield* difference(queries, state, to, part);
      state = to;
    }
    if (state !== undefined && isSameState(state, queries)) return;
    const { to, ...part } = this.#lastStage(queries);
    yield* difference(queries, state, to, part);
  }

  *#stages(queries: PastQueries): Generator<Stage, void> {
    yield* this.#corrected(queries);
    yield* this.#noted(queries);
  }

  /** Their arrival, if it was since, and the corrections that tell what they were. */
  *#corrected(queries: PastQueries): Generator<Stage, void> {
    const { arrivedFrom, corrections, known } = queries;
    const effect = new Effect(queries.firstCaller);
    if (arrivedFrom === null)
      for (const one of this.#inEffect(queries)) effect.add(one.number, appliedOf(one));
    if (arrivedFrom !== null) {
      const to = corrections.length === 0 ? queries : effect.state();
      const cause = causeOf(arrivedFrom, queries.first < this.#atMs);
      yield { to, cause, by: arrivedFrom, correction: null };
    }
    for (const { by, changed } of this.#eventsOf(queries)) {
      if (by.action === 'undo') effect.remove(changed);
      else effect.add(changed, appliedOf(by));
      if (arrivedFrom !== null || known.length === 0 || this.#isTold(queries, dayOfEvent(by)))
        yield { to: effect.state(), ...partOf(by) };
    }
  }

  /** The days since then of which it is noted what they were. */
  #noted(queries: PastQueries): Stage[] {
    if (queries.arrivedFrom !== null) return [];
    const noted = queries.known.filter(({ day }) => day >= this.#day);
    const events = noted.length === 0 ? [] : this.#eventsOf(queries);
    return noted.map(({ day }, at) => {
      const event = events.findLast(({ by }) => dayOfEvent(by) === day);
      return { to: noted[at + 1] ?? queries, ...(event === undefined ? FROM_TELEMETRY : partOf(event.by)) };
    });
  }

  /** From a correction that is being carried out, or was since the state of the queries was read. */
  #lastStage(queries: PastQueries): Stage {
    const last = queries.known.length > 0 ? undefined : this.#lastOf(queries);
    return { to: queries, ...(last === undefined ? FROM_TELEMETRY : partOf(last)) };
  }

  /** What queries were that had arrived before the moment. */
  #stateThen(queries: PastQueries): QueryState {
    const { known } = queries;
    if (known.length === 0 || this.#isTold(queries, this.#day - 1)) {
      let state: QueryState = { caller: queries.firstCaller, isWithdrawn: false };
      for (const one of this.#inEffect(queries)) state = correct(state, appliedOf(one));
      return state;
    }
    return known.find(({ day }) => day >= this.#day) ?? queries;
  }

  /** Whether the corrections until the end of a day tell what queries were then. */
  #isTold({ known: [first] }: PastQueries, day: number): boolean {
    return first?.isCorrected === true && day < first.day;
  }

  /** Corrections and undos of these queries since the moment, in their order. Of queries that arrived since, all. */
  #eventsOf({ corrections, arrivedFrom }: PastQueries): CorrectionEvent[] {
    const events: CorrectionEvent[] = [];
    const add = (by: PastCorrection, changed: number): void => {
      if (arrivedFrom !== null || !this.#isBefore(by)) events.push({ by, changed });
    };
    const made = corrections.flatMap((number) => this.#byNumber.get(number) ?? []);
    for (const one of made) add(one, one.number);
    for (const one of made) {
      const undo = this.#undoOf(one);
      if (undo !== undefined && undo.finishedAt !== null) add(undo, one.number);
    }
    return events.sort((a, b) => a.by.number - b.by.number);
  }

  /** The last correction or undo of these queries. */
  #lastOf({ corrections }: PastQueries): PastCorrection | undefined {
    const all = corrections.flatMap((number) => {
      const one = this.#byNumber.get(number);
      return one === undefined ? [] : [this.#undoOf(one) ?? one];
    });
    return all.sort((a, b) => b.number - a.number)[0];
  }

  /** Whether it was carried out before the moment. */
  #isBefore({ finishedAt }: PastCorrection): boolean {
    return finishedAt !== null && finishedAt < this.#atMs;
  }

  #isInEffect(correction: PastCorrection): boolean {
    const undo = this.#undoOf(correction);
    return this.#isBefore(correction) && (undo === undefined || !this.#isBefore(undo));
  }

  #undoOf({ undoneBy }: PastCorrection): PastCorrection | undefined {
    return undoneBy === null ? undefined : this.#byId.get(undoneBy);
  }

  /** The corrections of these queries that were in effect at the moment. */
  #inEffect({ corrections }: PastQueries): PastCorrection[] {
    return corrections.flatMap((number) => {
      const one = this.#byNumber.get(number);
      return one !== undefined && this.#isInEffect(one) ? [one] : [];
    });
  }
}

function appliedOf({ action, to }: PastCorrection): Applied {
  return { action: action === 'withdraw' ? 'withdraw' : 'rename', to: to ?? undefined };
}

function partOf({ action, createdBy, id }: PastCorrection) {
  return { cause: CAUSES[action], by: createdBy, correction: id };
}

/** The UTC day on which a correction was finished; the last of all while it is not. */
function dayOfEvent({ finishedAt }: PastCorrection): number {
  return finishedAt === null ? Number.POSITIVE_INFINITY : dayOf(finishedAt);
}

/** The change of queries from one state to another; from undefined if they were not there. */
function difference(
  { queries }: Pick<PastQueries, 'queries'>,
  before: QueryState | undefined,
  after: QueryState,
  part: Pick<Change, 'cause' | 'by' | 'correction'>,
): Change[] {
  const [from, to] = [before && countedCaller(before), countedCaller(after)];
  if (from === to) return [];
  return [
    ...(from === undefined ? [] : [{ ...part, caller: from, queries: -queries }]),
    ...(to === undefined ? [] : [{ ...part, caller: to, queries }]),
  ];
}

function countedCaller({ caller, isWithdrawn }: QueryState): string | undefined {
  return isWithdrawn ? undefined : caller;
}

function causeOf(sender: string, isLate: boolean): ChangeCause {
  if (/^(import:|counts:|copy$|demo$)/.test(sender)) return 'imported';
  return isLate ? 'recordedLate' : 'recorded';
}
