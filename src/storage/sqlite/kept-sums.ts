/**
 * Counters added up in memory: the whole days of a project, what is within the days that ranges begin and end in, and of
 * days with much in them, what is within those ten seconds.
 *
 * What is kept stays for as long as nothing was recorded into it. Counters of a project, by its number, never fall, and each
 * query adds one at every width: so what is within a bucket is as it was if the bucket's own counter adds up to what it did.
 * The days are held to the widest counters, which are few, after each commit; what is within a day to the days' sums, and
 * what is within ten seconds to the day's.
 */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS, bucketOf } from '../../domain/buckets.js';
import { added, type TypeCounts, withTotal } from '../../domain/counts.js';
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
  /** Reading it costs as much as so many counts gain by it, and so is done at this ask since it changed. */
  readonly asks: number;
}

interface Kept {
  /** Since it was last seen to have changed. */
  asks: number;
  /** None before it was asked for often enough, and where there is too much. */
  sums: Sums | undefined;
  /** In it. While they are as many, nothing in it has changed. */
  queries: number;
  /** When they were last looked at: for days the version of the file, and for a stretch, the edition of the wider sums. */
  seenIn: number;
}

interface Sums {
  readonly buckets: BucketSums;
  readonly rows: number;
  /** Another one each time that any are read. */
  readonly edition: number;
}

interface Project {
  readonly days: Kept;
  /** Never given to another. None where there is no such project. */
  number: number | null;
}

interface Known {
  readonly sum: TypeCounts;
  /** What has to be read. */
  readonly rest: readonly DateRange[];
}

export class KeptSums {
  readonly #readQueries: StatementSyncInstance;
  readonly #read: StatementSyncInstance;
  readonly #projects = new Map<string, Project>();
  /** By their projects' numbers, where they begin and how wide they are. */
  readonly #stretches = new Map<string, Kept>();
  readonly #rowsMax: number;
  #rows = 0;
  #editions = 0;
  #seen: number | undefined;

  /**
   * `rowsMax` are kept of all projects together. What is asked for later is read as if nothing were kept, until a commit,
   * which empties what is full.
   */
  constructor(db: Connection, rowsMax = keptRowsMax) {
    this.#rowsMax = rowsMax;
    this.#readQueries = db.prepare(`
      SELECT number, coalesce((
        SELECT sum(web + api + other) FROM type_counter WHERE project = number AND level = ${BUCKET_WIDTHS_MS.length - 1}
      ), 0) FROM project WHERE id = ?`);
    this.#readQueries.setReturnArrays(true);
    this.#read = db.prepare(`
      SELECT bucket, web, api, other FROM type_counter
      WHERE project = ? AND level = ? AND bucket >= ? AND bucket < ? ORDER BY bucket LIMIT ?`);
    this.#read.setReturnArrays(true);
  }

  /** What is known of a range's counts, as of this version of the file, which the connection must be reading. */
  knownOf(projectId: string, range: DateRange, version: number): Known {
    if (version !== this.#seen && this.#isFull()) this.#forgetAll();
    this.#seen = version;
    const project = this.#projectOf(projectId, version);
    if (project === undefined) return { sum: NOTHING, rest: [range] };
    this.#ask(project.days, project.number, DAYS, ALL_TIME);
    return this.#cut(project.number, range, project.days.sums, STRETCHES);
  }

  #isFull(): boolean {
    return this.#rows >= this.#rowsMax;
  }

  #forgetAll(): void {
    this.#projects.clear();
    this.#stretches.clear();
    this.#rows = 0;
  }

  /** None where there is no room for another. */
  #projectOf(projectId: string, version: number): Project | undefined {
    let project = this.#projects.get(projectId);
    if (project === undefined) {
      if (this.#isFull()) return undefined;
      project = { days: this.#place(1), number: null };
      this.#projects.set(projectId, project);
    }
    const { days } = project;
    if (days.seenIn !== version) {
      const [number, queries] = (this.#readQueries.get(projectId) ?? [null, 0]) as ProjectRow;
      if (number !== project.number) this.#forget(days);
      project.number = number;
      this.#hold(days, queries);
      days.seenIn = version;
    }
    return project;
  }

  /** What `wider` says of a range, and of what is left of it, what the stretches say that its ends lie in. */
  #cut(
    project: number | null,
    range: DateRange,
    wider: Sums | undefined,
    [stretch, ...narrower]: readonly Stretch[],
  ): Known {
    if (wider === undefined) return { sum: NOTHING, rest: [range] };
    const known = wider.buckets.cut(range);
    if (stretch === undefined || known.rest.length === 0) return known;
    const ends = known.rest.flatMap((piece) => cutWhereOneEnds(piece, stretch.widthMs));
    const inside = ends.map((end) =>
      this.#cut(project, end, this.#stretchAt(project, end.from, stretch, wider)?.sums, narrower),
    );
    return {
      sum: added([known.sum, ...inside.map(({ sum }) => sum)]),
      rest: inside.flatMap(({ rest }) => rest),
    };
  }

  /** The one that a time lies in. None where there is no room for another. */
  #stretchAt(
    project: number | null,
    timeMs: number,
    { widthMs, parts, placeRows }: Stretch,
    wider: Sums,
  ): Kept | undefined {
    const from = Math.floor(timeMs / widthMs) * widthMs;
    const span = { from, to: from + widthMs };
    const name = `${project} ${from} ${widthMs}`;
    let stretch = this.#stretches.get(name);
    if (stretch === undefined) {
      if (this.#isFull()) return undefined;
      stretch = this.#place(placeRows);
      this.#stretches.set(name, stretch);
    }
    if (stretch.seenIn !== wider.edition) {
      this.#hold(stretch, withTotal(wider.buckets.cut(span).sum).total);
      stretch.seenIn = wider.edition;
    }
    this.#ask(stretch, project, parts, span);
    return stretch;
  }

  /** That it was asked for takes room, too. */
  #place(rows: number): Kept {
    this.#rows += rows;
    return { asks: 0, sums: undefined, queries: 0, seenIn: Number.NaN };
  }

  #hold(kept: Kept, queries: number): void {
    if (kept.queries !== queries) this.#forget(kept);
    kept.queries = queries;
  }

  #forget(kept: Kept): void {
    this.#rows -= kept.sums?.rows ?? 0;
    kept.sums = undefined;
    kept.asks = 0;
  }

  /** Has it read when it was asked for so often. */
  #ask(kept: Kept, project: number | null, parts: readonly Part[], { from, to }: DateRange): void {
    kept.asks++;
    const part = kept.sums === undefined ? parts.find(({ asks }) => asks === kept.asks) : undefined;
    if (part === undefined) return;
    const { level, rowsMax } = part;
    const [first, end] = [bucketOf(from, level), bucketOf(to, level)];
    const rows = this.#read.all(project, level, first, end, rowsMax + 1) as unknown as CounterRow[];
    if (rows.length > rowsMax) return;
    this.#rows += rows.length;
    this.#editions++;
    kept.sums = { buckets: new BucketSums(level, rows), rows: rows.length, edition: this.#editions };
  }
}

type ProjectRow = readonly [number: number | null, queries: number];

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
