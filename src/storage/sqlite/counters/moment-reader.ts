import { bucketAt, bucketWidthMs } from '../../../domain/counting/buckets.js';
import type { DateRange } from '../../../domain/counting/date-range.js';
import type { Connection } from '../connection.js';
import { type Prepared, prepareArrays } from '../statements.js';
import { KEPT_LEVELS, readMoments } from './moments.js';

type Each = (index: number, timeMs: number, caller: number) => void;

/** The part of a range that belongs to a bucket that the range cuts. */
interface Cut extends DateRange {
  /** Of the range. */
  readonly index: number;
  readonly level: number;
}

/** Look-ups in one statement. Each number of them has its own. */
const cutsMax = 64;

const queriesSql = (cuts: number): string => `
  SELECT ${Array(cuts).fill('(SELECT queries FROM moment WHERE project = number AND level = ? AND bucket = ?)').join(', ')}
  FROM project WHERE id = ?`;

/** Reads the queries of ranges that their counters do not include: those of the buckets that they cut. */
export class MomentReader {
  readonly #db: Connection;
  /** For each number of cuts. */
  readonly #prepared: Prepared<readonly (Uint8Array | null)[]>[] = [];

  constructor(db: Connection) {
    this.#db = db;
  }

  /** Calls `each` for every query, with the index of its range. */
  read(projectId: string, ranges: readonly DateRange[], each: Each): void {
    const cuts = ranges.flatMap(cutsOf);
    for (let at = 0; at < cuts.length; at += cutsMax)
      this.#readCuts(projectId, cuts.slice(at, at + cutsMax), each);
  }

  #readCuts(projectId: string, cuts: readonly Cut[], each: Each): void {
    this.#prepared[cuts.length] ??= prepareArrays(this.#db, queriesSql(cuts.length));
    const places = cuts.flatMap(({ level, from }) => [level, bucketAt(from, level)]);
    const found = this.#prepared[cuts.length]?.get(...places, projectId) ?? [];
    for (const [at, { index, level, from, to }] of cuts.entries()) {
      const queries = found[at];
      if (queries == null) continue;
      readMoments(level, bucketAt(from, level), queries, (timeMs, caller) => {
        if (timeMs >= from && timeMs < to) each(index, timeMs, caller);
      });
    }
  }
}

function cutsOf({ from, to }: DateRange, index: number): Cut[] {
  const cuts: Cut[] = [];
  for (const level of KEPT_LEVELS) {
    const widthMs = bucketWidthMs(level);
    const [first, end] = [Math.ceil(from / widthMs) * widthMs, Math.floor(to / widthMs) * widthMs];
    if (from < first) cuts.push({ index, level, from, to: Math.min(first, to) });
    if (end < to && end >= from) cuts.push({ index, level, from: end, to });
  }
  return cuts;
}
