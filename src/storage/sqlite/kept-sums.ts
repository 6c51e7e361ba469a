/**
 * Counters added up in memory, for as long as nobody commits anything: the whole days of a project, what is within the days
 * that ranges begin and end in, and of days with much in them, what is within those ten seconds.
 */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS, bucketOf } from '../../domain/buckets.js';
import { added, type TypeCounts } from '../../domain/counts.js';
import { ALL_TIME, type DateRange } from '../../domain/date-range.js';
import { BucketSums, type CounterRow } from './bucket-sums.js';
import type { Connection } from './connection.js';

const dayMs = 86_400_000;
const tenSecondsMs = 10_000;

/** What is read of a project: its days. More than eleven years of them take longer than a millisecond, and are not kept. */
const DAYS: readonly Part[] = [{ level: BUCKET_WIDTHS_MS.indexOf(dayMs), rowsMax: 4_000, asks: 16 }];

/** What ranges begin and end in, from the wider to the narrower. */
const STRETCHES: readonly Stretch[] = [
  {
    widthMs: dayMs,
    // Its milliseconds, or where queries came in more of them, its 8,640 buckets of ten seconds: they take ten milliseconds.
    parts: [
      { level: 0, rowsMax: 4_000, asks: 16 },
      { level: BUCKET_WIDTHS_MS.indexOf(tenSecondsMs), rowsMax: 8_640, asks: 256 },
    ],
    placeRows: 1,
  },
  { widthMs: tenSecondsMs, parts: [{ level: 0, rowsMax: tenSecondsMs, asks: 16 }], placeRows: 24 },
];

/** 32 megabytes. */
const keptRowsMax = 2_000_000;

interface Stretch {
  readonly widthMs: number;
  /** What is read of it: the first of these that is not too large. */
  readonly parts: readonly Part[];
  /** As many rows take the memory that is taken by having been asked for it. There are many short ones, with little in them. */
  readonly placeRows: number;
}

interface Part {
  readonly level: number;
  /** Where there are more, it is not kept. */
  readonly rowsMax: number;
  /** Reading it costs as much as so many counts gain by it, and so is done at this ask since the last commit. */
  readonly asks: number;
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
    const days = this.#ask(projectId, 1, (asks) => this.#find(projectId, partFor(DAYS, asks), ALL_TIME));
    return this.#cut(projectId, range, days, STRETCHES);
  }

  /** What `sums` say of a range, and of what is left of it, what the stretches say that its ends lie in. */
  #cut(
    projectId: string,
    range: DateRange,
    sums: BucketSums | undefined,
    [stretch, ...narrower]: readonly Stretch[],
  ): Known {
    if (sums === undefined) return { sum: NOTHING, rest: [range] };
    const known = sums.cut(range);
    if (stretch === undefined || known.rest.length === 0) return known;
    const { widthMs, parts, placeRows } = stretch;
    const ends = known.rest.flatMap((piece) => cutWhereOneEnds(piece, widthMs));
    const inside = ends.map((end) => {
      const from = Math.floor(end.from / widthMs) * widthMs;
      const within = this.#ask(`${projectId} ${from} ${widthMs}`, placeRows, (asks) =>
        this.#find(projectId, partFor(parts, asks), { from, to: from + widthMs }),
      );
      return this.#cut(projectId, end, within, narrower);
    });
    return {
      sum: added([known.sum, ...inside.map(({ sum }) => sum)]),
      rest: inside.flatMap(({ rest }) => rest),
    };
  }

  #ask(
    name: string,
    placeRows: number,
    find: (asks: number) => BucketSums | undefined,
  ): BucketSums | undefined {
    let kept = this.#kept.get(name);
    if (kept === undefined) {
      if (this.#rows >= this.#rowsMax) return undefined;
      // That it was asked for takes a place, too.
      this.#rows += placeRows;
      kept = { asks: 0, sums: undefined };
      this.#kept.set(name, kept);
    }
    kept.asks++;
    kept.sums ??= find(kept.asks);
    return kept.sums;
  }

  #find(projectId: string, part: Part | undefined, { from, to }: DateRange): BucketSums | undefined {
    if (part === undefined) return undefined;
    const { level, rowsMax } = part;
    const [first, end] = [bucketOf(from, level), bucketOf(to, level)];
    const rows = this.#read.all(projectId, level, first, end, rowsMax + 1) as unknown as CounterRow[];
    if (rows.length > rowsMax) return undefined;
    this.#rows += rows.length;
    return new BucketSums(level, rows);
  }
}

/** What is to be read at this ask. */
function partFor(parts: readonly Part[], asks: number): Part | undefined {
  return parts.find((part) => part.asks === asks);
}

const NOTHING = added([]);

/** What is left beside whole stretches has at most one of their ends in it. */
function cutWhereOneEnds({ from, to }: DateRange, widthMs: number): DateRange[] {
  const end = Math.ceil(from / widthMs) * widthMs;
  if (end <= from || end >= to) return [{ from, to }];
  return [
    { from, to: end },
    { from: end, to },
  ];
}
