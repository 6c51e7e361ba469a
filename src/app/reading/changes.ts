/** How the counts of a range have changed since the start of a UTC day, and why. */
import {
  type CallerCount,
  COUNT_FIELDS,
  type Counts,
  mapTypes,
  withTotal,
  zeroCounts,
} from '../../domain/counting/counts.js';
import { toCsv } from '../../domain/counting/csv.js';
import { EARLIEST_MS, LATEST_MS } from '../../domain/counting/date-range.js';
import type { ChangesRequest } from '../../domain/counting/report-request.js';
import { sortInSteps } from '../../domain/counting/sort-in-steps.js';
import { formatTime } from '../../domain/format.js';
import type { Change } from '../../domain/history/timeline.js';
import { changesListedMax } from '../../domain/limits.js';
import { callerType } from '../../domain/queries/caller.js';
import { formatWithOffset } from '../../domain/time/date-time.js';
import { offsetAt } from '../../domain/time/time-zone.js';
import { finishWithPauses } from '../../shared/pauses.js';
import type { Steps } from '../../shared/steps.js';
import { Turns } from '../../shared/turns.js';
import type { Store } from '../../storage/ports/store.js';
import { visitPast } from './past.js';

/** A change: so many queries of a caller more or fewer. */
interface ListedChange extends Pick<Change, 'cause' | 'by' | 'correction'>, CallerCount {
  /** Of the correction. */
  readonly reason: string | null;
}

/** `before` and all changes add up to `now`, by type and by caller. */
export interface Changes {
  readonly since: string;
  /** The range, in the zone; null for no bound. */
  readonly dateFrom: string | null;
  readonly dateTo: string | null;
  /** The counts as they were answered then, and now. */
  readonly before: Counts;
  readonly now: Counts;
  readonly difference: Counts;
  /** The largest first. */
  readonly changes: readonly ListedChange[];
  /** All changes that are not in the list, together. */
  readonly otherChanges: Counts;
}

/** How many are summed at a time, in about a millisecond. */
const changesInStep = 500;

export async function readChanges(
  store: Pick<Store, 'history' | 'corrections'>,
  projectId: string,
  { range, since, timeZone }: ChangesRequest,
  onStep?: () => void,
): Promise<Changes> {
  const [before, now] = [zeroCounts(), zeroCounts()];
  const sums = new Map<string, { -readonly [Field in keyof Change]: Change[Field] }>();
  const question = {
    projectId,
    range,
    atMs: since,
    parameter: 'since',
    spanMs: range.to - range.from || 1,
    onStep,
  } as const;
  await visitPast(store, question, function* (past, timeline) {
    const then = timeline.callerThen(past);
    if (then !== undefined) before[callerType(then)] += past.queries;
    if (!past.isWithdrawn) now[callerType(past.caller)] += past.queries;
    let changes = 0;
    for (const change of timeline.changes(past)) {
      changes++;
      if (changes % changesInStep === 0) yield;
      const { cause, by, correction, caller } = change;
      const key = JSON.stringify([cause, by, correction, caller]);
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { ...change });
      else sum.queries += change.queries;
    }
  });
  const changes = await finishWithPauses(largestFirst(sums));
  const format = (bound: number, none: number): string | null =>
    bound === none ? null : formatWithOffset(bound, offsetAt(bound, timeZone));
  return {
    since: formatTime(since),
    dateFrom: format(range.from, EARLIEST_MS),
    dateTo: format(range.to, LATEST_MS),
    before: withTotal(before),
    now: withTotal(now),
    difference: withTotal(mapTypes((type) => now[type] - before[type])),
    changes: await listChanges(store, projectId, changes.slice(0, changesListedMax)),
    otherChanges: sumChanges(changes.slice(changesListedMax)),
  };
}

export function changesToCsv({ changes, otherChanges }: Changes): string {
  const rows = changes.map(({ cause, by, correction, reason, caller, type, count }) => {
    return [cause, by, correction ?? '', reason ?? '', caller, type, count];
  });
  const others = COUNT_FIELDS.flatMap((type) =>
    type === 'total' || otherChanges[type] === 0 ? [] : [['', '', '', '', '', type, otherChanges[type]]],
  );
  return toCsv(['cause', 'by', 'correction', 'reason', 'caller', 'type', 'count'], [...rows, ...others]);
}

function* largestFirst(sums: ReadonlyMap<string, Change>): Steps<Change[]> {
  const found: [key: string, change: Change][] = [];
  let seen = 0;
  for (const sum of sums) {
    if (sum[1].queries !== 0) found.push(sum);
    seen++;
    if (seen % changesInStep === 0) yield;
  }
  const sorted = yield* sortInSteps(
    found,
    ([a, one], [b, other]) => Math.abs(other.queries) - Math.abs(one.queries) || (a < b ? -1 : 1),
  );
  return sorted.map(([, change]) => change);
}

/** All who look up why something was corrected share its turns. */
const turns = new Turns();

async function listChanges(
  { corrections }: Pick<Store, 'corrections'>,
  projectId: string,
  changes: readonly Change[],
): Promise<ListedChange[]> {
  const reasons = new Map<string | null, string | null>([[null, null]]);
  for (const { correction } of changes) {
    if (correction === null || reasons.has(correction)) continue;
    const found = await turns.next(() => corrections.findCorrection(projectId, correction));
    reasons.set(correction, found?.request.reason ?? null);
  }
  return changes.map(({ cause, by, correction, caller, queries }) => {
    const reason = reasons.get(correction) ?? null;
    return { cause, by, correction, reason, caller, type: callerType(caller), count: queries };
  });
}

function sumChanges(changes: readonly Pick<Change, 'caller' | 'queries'>[]): Counts {
  const sum = zeroCounts();
  for (const { caller, queries } of changes) sum[callerType(caller)] += queries;
  return withTotal(sum);
}
