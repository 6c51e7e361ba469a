/**
 * Counters added up in memory, for as long as nobody commits anything: the whole days of a project, and what is within the
 * days that ranges begin and end in.
 */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS, bucketOf } from '../../domain/buckets.js';
import { added, type TypeCounts } from '../../domain/counts.js';
import { ALL_TIME, type DateRange } from '../../domain/date-range.js';
import { BucketSums, type CounterRow } from './bucket-sums.js';
import type { Connection } from './connection.js';

const dayMs = 86_400_000;

/** Reading what is to be kept costs as much as some counts, and so is done at this ask since the last commit. */
const asksMin = 16;

/** What is read of a project: its days. More than eleven years of them take longer than a millisecond, and are not kept. */
const DAYS: readonly Part[] = [{ level: BUCKET_WIDTHS_MS.indexOf(dayMs), rowsMax: 4_000 }];

/** What is read of a day: its milliseconds, or where queries came in more of them, its 8,640 buckets of ten seconds. */
const WITHIN_DAY: readonly Part[] = [
  { level: 0, rowsMax: 4_000 },
  { level: BUCKET_WIDTHS_MS.indexOf(10_000), rowsMax: 8_640 },
];

/** 32 megabytes. */
const keptRowsMax = 1_000_000;

interface Part {
  readonly level: number;
  /** Where there are more, it is not kept. */
  readonly rowsMax: number;
}

interface Kept {
  asks: number;
  /** None before it was asked for often enough, and where there is too much. */
  sums: BucketSums | undefined;
}

interface Known {
  readonly sum: TypeCounts;
  /** What has to be read. */
  readonly rest: readonly DateRange[];
}

export class KeptSums {
  readonly #read: StatementSyncInstance;
  /** Of projects by their ids, and of days of projects by both. */
  readonly #kept = new Map<string, Kept>();
  readonly #rowsMax: number;
  #rows = 0;
  #seen: number | undefined;

  /** `rowsMax` are kept of all projects together. What is asked for later is read as if nothing were kept. */
  constructor(db: Connection, rowsMax = keptRowsMax) {
    this.#rowsMax = rowsMax;
    this.#read = db.prepare(`
      SELECT bucket, web, api, other FROM type_counter
      WHERE project = (SELECT number FROM project WHERE id = ?) AND level = ? AND bucket >= ? AND bucket < ?
      ORDER BY bucket LIMIT ?`);
    this.#read.setReturnArrays(true);
  }

  /** What is known of a range's counts, as of this version of the file, which the connection must be reading. */
  knownOf(projectId: string, range: DateRange, version: number): Known {
    if (version !== this.#seen) {
      this.#kept.clear();
      this.#rows = 0;
      this.#seen = version;
    }
    const days = this.#ask(projectId, () => this.#find(projectId, DAYS, ALL_TIME));
    if (days === undefined) return { sum: NOTHING, rest: [range] };
    const { sum, rest } = days.cut(range);
    const parts = rest.flatMap(cutAtMidnight).map((piece) => this.#knownWithinDay(projectId, piece));
    return { sum: added([sum, ...parts.map((part) => part.sum)]), rest: parts.flatMap((part) => part.rest) };
  }

  #knownWithinDay(projectId: string, range: DateRange): Known {
    const from = Math.floor(range.from / dayMs) * dayMs;
    const sums = this.#ask(`${projectId} ${from}`, () =>
      this.#find(projectId, WITHIN_DAY, { from, to: from + dayMs }),
    );
    return sums?.cut(range) ?? { sum: NOTHING, rest: [range] };
  }

  #ask(name: string, find: () => BucketSums | undefined): BucketSums | undefined {
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      if (this.#rows >= this.#rowsMax) return undefined;
      // That it was asked for takes a place, too.
      this.#rows++;
      kept = { asks: 0, sums: undefined };
      this.#kept.set(name, kept);
    }
    kept.asks++;
    if (kept.asks === asksMin) kept.sums = find();
    return kept.sums;
  }

  /** The first of these parts that is not too large. */
  #find(projectId: string, parts: readonly Part[], { from, to }: DateRange): BucketSums | undefined {
    for (const { level, rowsMax } of parts) {
      const [first, end] = [bucketOf(from, level), bucketOf(to, level)];
      const rows = this.#read.all(projectId, level, first, end, rowsMax + 1) as unknown as CounterRow[];
      if (rows.length > rowsMax) continue;
      this.#rows += rows.length;
      return new BucketSums(level, rows);
    }
    return undefined;
  }
}

const NOTHING = added([]);

/** What is left beside whole days has at most one midnight in it. */
function cutAtMidnight({ from, to }: DateRange): DateRange[] {
  const midnight = Math.ceil(from / dayMs) * dayMs;
  if (midnight <= from || midnight >= to) return [{ from, to }];
  return [
    { from, to: midnight },
    { from: midnight, to },
  ];
}
