/** Which imported counts a range and its buckets cut. All queries of a count are counted at the start of its span. */
import type { CutBounds } from '../../domain/counting/cut-bounds.js';
import { LATEST_MS } from '../../domain/counting/date-range.js';
import { type CutSpan, joinCuts } from '../../domain/counting/imported-count.js';
import type { CutBoundsRequest } from '../../domain/counting/report-request.js';
import { formatTime } from '../../domain/format.js';
import { importedSpanDaysMax } from '../../domain/limits.js';
import { formatWithOffset } from '../../domain/time/date-time.js';
import { dayMs } from '../../domain/time/duration.js';
import { offsetAt, UTC } from '../../domain/time/time-zone.js';
import { nextTurn } from '../../shared/pauses.js';
import type { CountStore } from '../../storage/ports/counts.js';
import { findSeriesEdges, type SeriesStore } from '../../storage/series.js';

/** The buckets of one read, which may have many imported counts each. */
const bucketsInStep = 100;

interface CutStore extends SeriesStore {
  readonly counts: SeriesStore['counts'] & Pick<CountStore, 'findCutSpan'>;
}

export async function readCutBounds(
  { counts }: CutStore,
  projectId: string,
  question: CutBoundsRequest,
): Promise<CutBounds> {
  const { range, timeZone, interval } = question;
  // Without a zone the times have always ended in Z.
  const format = (timeMs: number): string =>
    timeZone === UTC ? formatTime(timeMs) : formatWithOffset(timeMs, offsetAt(timeMs, timeZone));
  const toCut = (cut: CutSpan | undefined) =>
    cut === undefined ? null : { start: format(cut.start), end: format(cut.end), count: cut.count };
  const cutBy = (bound: number) =>
    counts.findCutSpan(projectId, [bound - importedSpanDaysMax * dayMs, bound]);
  const edges =
    interval === undefined
      ? []
      : await findSeriesEdges(counts, projectId, { ...question, interval, byCaller: false });
  const bounds = edges.map(({ timeMs }) => timeMs);
  // What the end of the range cuts is told apart.
  const inner = range.to === LATEST_MS ? bounds : bounds.slice(0, -1);
  return {
    dateFrom: toCut(await cutBy(range.from)),
    dateTo: toCut(await cutBy(range.to)),
    buckets: toCut(await cutByBuckets(counts, projectId, inner)),
  };
}

async function cutByBuckets(
  counts: CutStore['counts'],
  projectId: string,
  edges: readonly number[],
): Promise<CutSpan | undefined> {
  let all: CutSpan | undefined;
  for (let at = 0; at + 1 < edges.length; at += bucketsInStep) {
    const cut = await counts.findCutSpan(projectId, edges.slice(at, at + bucketsInStep + 1));
    if (cut !== undefined) all = joinCuts(all, cut);
    await nextTurn();
  }
  return all;
}
