/**
 * Caches counters as prefix sums: the days of a project, the insides of the days that ranges begin and end in, and for busy
 * days the insides of ten seconds.
 *
 * A cached period stays valid until a query is recorded into it. Counters of a project number decrease only with its revision
 * (`test/tidy/structure.test.ts`), and each query adds one at every level. So while the revision is the same, a bucket has not
 * changed if its own counter has not. After each commit, the days are checked against the sum of the few widest counters, the
 * insides of a day against its daily counter, and so on.
 */
import { BUCKET_WIDTHS_MS, bucketAt } from '../../../domain/counting/buckets.js';
import { zeroCounts } from '../../../domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../../domain/counting/date-range.js';
import { CALLER_TYPES, type CallerType } from '../../../domain/queries/caller.js';
import { dayMs, secondMs } from '../../../domain/time/duration.js';
import type { Connection } from '../connection.js';
import { type Prepared, prepareArrays } from '../statements.js';
import { TYPE_INDEX } from './counter-deltas.js';
import { KEPT_LEVELS, readMoments } from './moments.js';
import { type CounterRow, PrefixSums } from './prefix-sums.js';

const tenSecondsMs = 10 * secondMs;

/** A kind of period that is cached. */
interface Tier {
  /** The first of these that is not too large is cached. */
  readonly resolutions: readonly Resolution[];
  /** How the insides of its buckets are cached. Undefined if the buckets are milliseconds. */
  readonly inner: Tier | undefined;
}

interface Resolution {
  readonly level: number;
  /** Periods with more rows are not cached at this resolution. */
  readonly rowsMax: number;
  /** Number of look-ups since the last change after which reading the rows pays. */
  readonly lookUps: number;
}

const PROJECT: Tier = {
  // Reading more than eleven years of days takes longer than a millisecond.
  resolutions: [{ level: BUCKET_WIDTHS_MS.indexOf(dayMs), rowsMax: 4_000, lookUps: 16 }],
  inner: {
    // A day: its milliseconds, or if too many have queries, its buckets of ten seconds, which take ten milliseconds to read.
    resolutions: [
      { level: 0, rowsMax: 4_000, lookUps: 16 },
      { level: BUCKET_WIDTHS_MS.indexOf(tenSecondsMs), rowsMax: dayMs / tenSecondsMs, lookUps: 256 },
    ],
    inner: { resolutions: [{ level: 0, rowsMax: tenSecondsMs, lookUps: 16 }], inner: undefined },
  },
};

/** About 32 MB. */
const defaultRowsMax = 2_000_000;

/** The memory that an entry and its sums take in addition to their rows, in rows. */
const entryRows = 32;
const sumsRows = 32;

/** Eleven years, as with the days. Each commit invalidates all entries of a project with more. */
const widestMax = 128;

interface Entry {
  /** The project number, which is never reused. Null if there is no such project. */
  readonly project: number | null;
  /** That of the project, which changes with each step of a correction. */
  readonly revision: number;
  readonly tier: Tier;
  readonly span: DateRange;
  /** Since the last change. */
  lookUps: number;
  /** Undefined until it has been looked up often enough, and if it is too large. */
  sums: Sums | undefined;
  /** Entries for the insides of buckets, by bucket. Only for those that were looked up and have queries. */
  inner: Map<number, Entry> | undefined;
  /** Queries in the period. It is unchanged while this is. NaN if unknown. */
  queries: number;
  /** When `queries` was last checked: the file version for a project, the edition of the outer sums for others. */
  checkedAt: number;
}

interface Sums {
  readonly prefixes: PrefixSums;
  readonly rows: number;
  /** Different each time that sums are read. */
  readonly edition: number;
}

interface Cached {
  /** Counts of the cached parts of the range. */
  readonly sum: Record<CallerType, number>;
  /** The parts that must be read from the file. */
  readonly rest: DateRange[];
}

type ProjectRow = readonly [number: number | null, revision: number, queries: number | null];

export class RollupCache {
  readonly #readProject: Prepared<ProjectRow>;
  readonly #readCounters: Prepared<CounterRow>;
  readonly #readMoments: Prepared<readonly [bucket: number, queries: Uint8Array]>;
  readonly #projects = new Map<string, Entry>();
  readonly #rowsMax: number;
  #rows = 0;
  #editions = 0;
  #version: number | undefined;

  /** `rowsMax` applies to all projects together. A full cache takes no more entries, and the next commit empties it. */
  constructor(db: Connection, rowsMax = defaultRowsMax) {
    this.#rowsMax = rowsMax;
    this.#readProject = prepareArrays(
      db,
      `SELECT number, revision, (
        SELECT CASE WHEN count(*) <= ${widestMax} THEN coalesce(sum(queries), 0) END FROM (
          SELECT ${CALLER_TYPES.join(' + ')} AS queries FROM query_counter
          WHERE project = number AND level = ${BUCKET_WIDTHS_MS.length - 1} LIMIT ${widestMax + 1}
        )
      ) FROM project WHERE id = ?`,
    );
    this.#readCounters = prepareArrays(
      db,
      `SELECT bucket, ${CALLER_TYPES.join(', ')} FROM query_counter
       WHERE project = ? AND level = ? AND bucket >= ? AND bucket < ? ORDER BY bucket LIMIT ?`,
    );
    this.#readMoments = prepareArrays(
      db,
      'SELECT bucket, queries FROM moment WHERE project = ? AND level = ? AND bucket >= ? AND bucket <= ?',
    );
  }

  /** The cached counts of a range. `version` is that of the snapshot that the connection is reading. */
  lookUp(projectId: string, range: DateRange, version: number): Cached {
    if (version !== this.#version && this.#isFull()) {
      this.#projects.clear();
      this.#rows = 0;
    }
    this.#version = version;
    const cached: Cached = { sum: zeroCounts(), rest: [] };
    this.#add(cached, this.#projectEntry(projectId, version), range.from, range.to);
    return cached;
  }

  #isFull(): boolean {
    return this.#rows >= this.#rowsMax;
  }

  /** Adds the whole buckets of an entry, and the parts of buckets at both ends. */
  #add(cached: Cached, entry: Entry | undefined, from: number, to: number): void {
    const sums = entry === undefined ? undefined : this.#sumsOf(entry);
    if (entry === undefined || sums === undefined) {
      cached.rest.push({ from, to });
      return;
    }
    const { widthMs } = sums.prefixes;
    const [first, end] = [Math.ceil(from / widthMs), Math.floor(to / widthMs)];
    if (first > end) {
      this.#addPart(cached, entry, sums, end, from, to);
      return;
    }
    sums.prefixes.addTo(cached.sum, first, end);
    if (from < first * widthMs) this.#addPart(cached, entry, sums, first - 1, from, first * widthMs);
    if (end * widthMs < to) this.#addPart(cached, entry, sums, end, end * widthMs, to);
  }

  /** Adds a part of one bucket. Empty buckets need no entry. */
  #addPart(cached: Cached, entry: Entry, sums: Sums, bucket: number, from: number, to: number): void {
    if (entry.inner?.has(bucket) !== true && sums.prefixes.queriesIn(bucket) === 0) return;
    this.#add(cached, this.#innerEntry(entry, sums, bucket), from, to);
  }

  /** Undefined if the cache is full. */
  #projectEntry(projectId: string, version: number): Entry | undefined {
    let entry = this.#projects.get(projectId);
    if (entry === undefined && this.#isFull()) return undefined;
    if (entry?.checkedAt !== version) {
      const [number, revision, queries] = this.#readProject.get(projectId) ?? [null, 0, 0];
      if (entry?.project !== number || entry.revision !== revision) {
        // The rows of a replaced entry still count until the cache is emptied.
        entry = this.#createEntry({ project: number, revision }, PROJECT, ALL_TIME);
        this.#projects.set(projectId, entry);
      }
      this.#check(entry, queries ?? Number.NaN, version);
    }
    return entry;
  }

  /** The entry for the inside of a bucket. Undefined if the cache is full. */
  #innerEntry(outer: Entry, { prefixes, edition }: Sums, bucket: number): Entry | undefined {
    let entry = outer.inner?.get(bucket);
    if (entry === undefined) {
      if (outer.tier.inner === undefined || this.#isFull()) return undefined;
      const { widthMs } = prefixes;
      const span = { from: bucket * widthMs, to: (bucket + 1) * widthMs };
      entry = this.#createEntry(outer, outer.tier.inner, span);
      outer.inner ??= new Map();
      outer.inner.set(bucket, entry);
    }
    if (entry.checkedAt !== edition) this.#check(entry, prefixes.queriesIn(bucket), edition);
    return entry;
  }

  #createEntry(
    { project, revision }: Pick<Entry, 'project' | 'revision'>,
    tier: Tier,
    span: DateRange,
  ): Entry {
    this.#rows += entryRows;
    return {
      project,
      revision,
      tier,
      span,
      lookUps: 0,
      sums: undefined,
      inner: undefined,
      queries: 0,
      checkedAt: Number.NaN,
    };
  }

  /** Drops the sums if the number of queries has changed. */
  #check(entry: Entry, queries: number, checkedAt: number): void {
    entry.checkedAt = checkedAt;
    if (entry.queries === queries) return;
    entry.queries = queries;
    this.#rows -= entry.sums?.rows ?? 0;
    entry.sums = undefined;
    entry.lookUps = 0;
  }

  /** Reads the sums if it has been looked up often enough, and the cache is not full. */
  #sumsOf(entry: Entry): Sums | undefined {
    if (entry.sums !== undefined || this.#isFull()) return entry.sums;
    const resolution = entry.tier.resolutions.find(({ lookUps }) => lookUps === entry.lookUps + 1);
    if (resolution !== undefined) entry.sums = this.#readSums(entry, resolution);
    // Counted last: if reading throws, the next look-up tries again.
    entry.lookUps++;
    return entry.sums;
  }

  /** Undefined if there are too many rows. */
  #readSums({ project, span }: Entry, { level, rowsMax }: Resolution): Sums | undefined {
    const [first, end] = [bucketAt(span.from, level), bucketAt(span.to, level)];
    const counters = this.#readCounters.all(project, level, first, end, rowsMax + 1);
    const read = this.#withMoments(counters, project, span, level, rowsMax);
    if (read.length > rowsMax) return undefined;
    const prefixes = new PrefixSums(level, read);
    const rows = read.length + sumsRows;
    this.#rows += rows;
    this.#editions++;
    return { prefixes, rows, edition: this.#editions };
  }

  /** Adds the queries that the counters of a period do not include, until there are more than `rowsMax` rows. */
  #withMoments(
    counters: readonly CounterRow[],
    project: number | null,
    { from, to }: DateRange,
    level: number,
    rowsMax: number,
  ): readonly CounterRow[] {
    const rows = new Map(counters.map(([bucket, ...counts]) => [bucket, counts]));
    let added = 0;
    const add = (timeMs: number, caller: number): void => {
      if (timeMs < from || timeMs >= to) return;
      const bucket = bucketAt(timeMs, level);
      const [web, api, other] = rows.get(bucket) ?? [0, 0, 0];
      const type = Math.min(caller, TYPE_INDEX.other);
      rows.set(bucket, [
        web + Number(type === TYPE_INDEX.web),
        api + Number(type === TYPE_INDEX.api),
        other + Number(type === TYPE_INDEX.other),
      ]);
      added++;
    };
    for (const kept of KEPT_LEVELS.filter((one) => one > level))
      for (const [bucket, queries] of this.#readMoments.iterate(
        ...[project, kept, bucketAt(from, kept), bucketAt(to - 1, kept)],
      )) {
        if (rows.size > rowsMax) break;
        readMoments(kept, bucket, queries, add);
      }
    if (added === 0) return counters;
    return [...rows].map(([bucket, counts]): CounterRow => [bucket, ...counts]).sort(([a], [b]) => a - b);
  }
}
