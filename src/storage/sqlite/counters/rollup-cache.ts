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
import { BUCKET_WIDTHS_MS, bucketAt, DAY_LEVEL } from '../../../domain/counting/buckets.js';
import { ALL_TIME, type DateRange } from '../../../domain/counting/date-range.js';
import type { Connection } from '../connection.js';
import { type CounterRow, PrefixSums, type Sum } from './prefix-sums.js';

const tenSecondsMs = 10_000;

/**
 * What is kept, from the wider to the narrower: of a project its days, of a day that ranges begin or end in what is within it, and
 * of ten seconds of a busy day the same.
 */
const PROJECT: Stretch = {
  // More than eleven years of them take longer than a millisecond.
  parts: [{ level: DAY_LEVEL, rowsMax: 4_000, asks: 16 }],
  narrower: {
    // Its milliseconds, or where queries came in more of them, its 8,640 buckets of ten seconds: they take ten milliseconds.
    parts: [
      { level: 0, rowsMax: 4_000, asks: 16 },
      { level: BUCKET_WIDTHS_MS.indexOf(tenSecondsMs), rowsMax: 8_640, asks: 256 },
    ],
    narrower: { parts: [{ level: 0, rowsMax: tenSecondsMs, asks: 16 }], narrower: undefined },
  },
};

/** 32 megabytes. */
const keptRowsMax = 2_000_000;

/** As many rows take the memory that is taken by having been asked for, and by having sums, however few. */
const placeRows = 32;
const sumsRows = 32;

/** In eleven years, as with the days. Of a project with more, each commit takes with it what is kept. */
const widestMax = 128;

interface Stretch {
  /** What is read of it: the first of these that is not too large. */
  readonly parts: readonly Part[];
  /** What is kept of each of the buckets that were read of it. Nothing where these are milliseconds. */
  readonly narrower: Stretch | undefined;
}

interface Part {
  readonly level: number;
  /** Where there are more, it is not kept. */
  readonly rowsMax: number;
  /** Reading it costs as much as so many counts gain by it, and so is done at this ask since it changed. */
  readonly asks: number;
}

interface Kept {
  /** Its number, which is never given to another. None where there is no such project. */
  readonly project: number | null;
  readonly stretch: Stretch;
  readonly span: DateRange;
  /** Since it was last seen to have changed. */
  asks: number;
  /** None before it was asked for often enough, and where there is too much. */
  sums: Sums | undefined;
  /** By the buckets of its sums, those that were asked for and have queries. */
  narrower: Map<number, Kept> | undefined;
  /** In it. While they are as many, nothing in it has changed. Not a number where nobody knows. */
  queries: number;
  /** When they were last looked at: for a project the version of the file, and for others the edition of the wider sums. */
  seenIn: number;
}

interface Sums {
  readonly buckets: PrefixSums;
  readonly rows: number;
  /** Another one each time that any are read. */
  readonly edition: number;
}

interface Known {
  readonly sum: Sum;
  /** What has to be read. */
  readonly rest: DateRange[];
}

export class RollupCache {
  readonly #readQueries: StatementSyncInstance;
  readonly #read: StatementSyncInstance;
  readonly #projects = new Map<string, Kept>();
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
      SELECT number, (
        SELECT CASE WHEN count(*) <= ${widestMax} THEN coalesce(sum(queries), 0) END FROM (
          SELECT web + api + other AS queries FROM type_counter
          WHERE project = number AND level = ${BUCKET_WIDTHS_MS.length - 1} LIMIT ${widestMax + 1}
        )
      ) FROM project WHERE id = ?`);
    this.#readQueries.setReturnArrays(true);
    this.#read = db.prepare(`
      SELECT bucket, web, api, other FROM type_counter
      WHERE project = ? AND level = ? AND bucket >= ? AND bucket < ? ORDER BY bucket LIMIT ?`);
    this.#read.setReturnArrays(true);
  }

  /** What is known of a range's counts, as of this version of the file, which the connection must be reading. */
  lookUp(projectId: string, range: DateRange, version: number): Known {
    if (version !== this.#seen && this.#isFull()) this.#forgetAll();
    this.#seen = version;
    const known: Known = { sum: { web: 0, api: 0, other: 0 }, rest: [] };
    this.#add(known, this.#projectOf(projectId, version), range.from, range.to);
    return known;
  }

  #isFull(): boolean {
    return this.#rows >= this.#rowsMax;
  }

  #forgetAll(): void {
    this.#projects.clear();
    this.#rows = 0;
  }

  /** Adds what is kept of a stretch, and of what the ends of the range lie in there. Each is asked for once more. */
  #add(known: Known, kept: Kept | undefined, from: number, to: number): void {
    const sums = kept === undefined ? undefined : this.#askFor(kept);
    if (kept === undefined || sums === undefined) {
      known.rest.push({ from, to });
      return;
    }
    const { widthMs } = sums.buckets;
    const [first, end] = [Math.ceil(from / widthMs), Math.floor(to / widthMs)];
    if (first > end) {
      this.#addPart(known, kept, sums, end, from, to);
      return;
    }
    sums.buckets.addTo(known.sum, first, end);
    if (from < first * widthMs) this.#addPart(known, kept, sums, first - 1, from, first * widthMs);
    if (end * widthMs < to) this.#addPart(known, kept, sums, end, end * widthMs, to);
  }

  /** The same of a part of one bucket. Of a bucket without queries all is known, and takes no room. */
  #addPart(known: Known, kept: Kept, sums: Sums, bucket: number, from: number, to: number): void {
    if (kept.narrower?.has(bucket) !== true && sums.buckets.queriesIn(bucket) === 0) return;
    this.#add(known, this.#within(kept, sums, bucket), from, to);
  }

  /** None where there is no room for another. */
  #projectOf(projectId: string, version: number): Kept | undefined {
    let kept = this.#projects.get(projectId);
    if (kept === undefined && this.#isFull()) return undefined;
    if (kept?.seenIn !== version) {
      const [number, queries] = (this.#readQueries.get(projectId) ?? NO_PROJECT) as ProjectRow;
      if (kept?.project !== number) {
        // What was kept of the one before counts as kept until all is forgotten.
        kept = this.#place(number, PROJECT, ALL_TIME);
        this.#projects.set(projectId, kept);
      }
      this.#hold(kept, queries ?? Number.NaN, version);
    }
    return kept;
  }

  /** What is kept within a bucket of the sums. None where there is no room for another. */
  #within(wider: Kept, { buckets, edition }: Sums, bucket: number): Kept | undefined {
    let kept = wider.narrower?.get(bucket);
    if (kept === undefined) {
      if (wider.stretch.narrower === undefined || this.#isFull()) return undefined;
      const { widthMs } = buckets;
      const span = { from: bucket * widthMs, to: (bucket + 1) * widthMs };
      kept = this.#place(wider.project, wider.stretch.narrower, span);
      wider.narrower ??= new Map();
      wider.narrower.set(bucket, kept);
    }
    if (kept.seenIn !== edition) this.#hold(kept, buckets.queriesIn(bucket), edition);
    return kept;
  }

  /** That it was asked for takes room, too. */
  #place(project: number | null, stretch: Stretch, span: DateRange): Kept {
    this.#rows += placeRows;
    return {
      project,
      stretch,
      span,
      asks: 0,
      sums: undefined,
      narrower: undefined,
      queries: 0,
      seenIn: Number.NaN,
    };
  }

  /** Drops what is kept if there are other queries in it now. */
  #hold(kept: Kept, queries: number, seenIn: number): void {
    kept.seenIn = seenIn;
    if (kept.queries === queries) return;
    kept.queries = queries;
    this.#rows -= kept.sums?.rows ?? 0;
    kept.sums = undefined;
    kept.asks = 0;
  }

  /** Has it read when it was asked for so often, and there is room. */
  #askFor(kept: Kept): Sums | undefined {
    if (kept.sums !== undefined || this.#isFull()) return kept.sums;
    const part = kept.stretch.parts.find(({ asks }) => asks === kept.asks + 1);
    if (part !== undefined) kept.sums = this.#readPart(kept, part);
    // Only now: what could not be read is read at the next ask.
    kept.asks++;
    return kept.sums;
  }

  /** None where there is too much. */
  #readPart({ project, span }: Kept, { level, rowsMax }: Part): Sums | undefined {
    const [first, end] = [bucketAt(span.from, level), bucketAt(span.to, level)];
    const read = this.#read.all(project, level, first, end, rowsMax + 1) as unknown as CounterRow[];
    if (read.length > rowsMax) return undefined;
    const buckets = new PrefixSums(level, read);
    const rows = read.length + sumsRows;
    this.#rows += rows;
    this.#editions++;
    return { buckets, rows, edition: this.#editions };
  }
}

type ProjectRow = readonly [number: number | null, queries: number | null];

const NO_PROJECT: ProjectRow = [null, 0];
