/** Reads how the counts of a project came about. */
import type { DateRange } from '../../domain/counting/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import { type PastQueries, Timeline } from '../../domain/history/timeline.js';
import { dayOf, formatDay } from '../../domain/queries/receipt.js';
import { dayMs } from '../../domain/time/duration.js';
import { finishWithPauses } from '../../shared/pauses.js';
import type { Steps } from '../../shared/steps.js';
import { Turns } from '../../shared/turns.js';
import type { PastPage } from '../../storage/ports/history.js';
import type { Store } from '../../storage/ports/store.js';

/** What to read. */
export interface PastQuestion {
  readonly projectId: string;
  readonly range: DateRange;
  /** The start of a UTC day, and the parameter that says so. */
  readonly atMs: number;
  readonly parameter: 'asOf' | 'since';
  /** Queries of different spans of this length, counted from the start of the range, are told apart. */
  readonly spanMs: number;
  /** Called after each step. If it throws, the reading ends. */
  readonly onStep?: (() => void) | undefined;
}

type Source = Pick<Store, 'history'>;

/** All readings of the process share its turns: together, they take no more of each than one of them. */
const turns = new Turns();

/**
 * Visits all that was recorded into a project and occurred in a range, in steps that each are one snapshot. So what is recorded
 * meanwhile may be visited or not, as in an export; what arrived before the moment does not depend on it. Throws `invalid`
 * with the reason if the past is not known.
 */
export async function visitPast(
  { history }: Source,
  question: PastQuestion,
  visit: (queries: PastQueries, timeline: Timeline) => Steps<void> | undefined,
): Promise<void> {
  const { projectId, range, atMs, spanMs, onStep } = question;
  const look = async () => toTimeline(await history.findPast(projectId, range), question);
  let timeline = await look();
  let from: string | null = null;
  do {
    const at: string | null = from;
    const page: PastPage = await turns.next(() =>
      history.readPast(projectId, { ...range, atMs, spanMs }, at),
    );
    // A correction was accepted meanwhile.
    if (!page.queries.every((one) => timeline.knows(one))) timeline = await look();
    for (const one of page.queries) {
      const steps = visit(one, timeline);
      if (steps !== undefined) await finishWithPauses(steps);
    }
    onStep?.();
    from = page.next;
  } while (from !== null);
  // Retention may have removed rows meanwhile.
  await look();
}

async function toTimeline(
  { knownFrom, rowsFrom, corrections, lateDay }: Awaited<ReturnType<Source['history']['findPast']>>,
  { atMs, parameter }: PastQuestion,
): Promise<Timeline> {
  const timeline = new Timeline(atMs);
  await finishWithPauses(timeline.add(corrections));
  const { unclear } = timeline;
  const problems: string[] = [];
  if (knownFrom !== null && atMs < knownFrom) {
    const first = formatDay(dayOf(knownFrom + dayMs - 1));
    problems.push(
      `${parameter}: nobody knows when queries arrived that were recorded before the upgrade of ${formatTime(knownFrom)}; the first day that can be asked for is ${first}`,
    );
  }
  if (rowsFrom !== null) {
    const since = formatTime(rowsFrom);
    problems.push(
      `dateFrom: retention has removed the rows of queries from before ${since}, so nobody knows when they arrived; begin at ${since} or later`,
    );
  }
  if (lateDay !== null && lateDay >= dayOf(atMs))
    problems.push(
      `${parameter}: on ${formatDay(lateDay)}, telemetry told more about queries of earlier days that were corrected; the first day that can be asked for is ${formatDay(lateDay + 1)}`,
    );
  if (unclear !== undefined) {
    const { id, createdAt, finishedAt } = unclear;
    const end = finishedAt === null ? 'and still is' : `until ${formatTime(finishedAt)}`;
    problems.push(
      `${parameter}: the correction ${id} was being carried out at that moment, since ${formatTime(createdAt)} ${end}; ask for another day`,
    );
  }
  if (problems.length > 0)
    throw new CallerStatsError('invalid', 'This past is not known.', { details: problems });
  return timeline;
}
