/** What arrives at a project and what becomes of it, counted by its source: in memory first, then in the store. */
import { operationsMax, refusalsMax, sourceNameCharactersMax, sourcesMax } from '../limits.js';
import { minuteMs } from '../time/duration.js';
import type { RefusalReason } from './refusals.js';

export const SOURCE_KINDS = ['traces', 'logs', 'queries', 'import'] as const;

export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What sends: a service with OpenTelemetry, a key of the recording API, or a command or key that imports. */
export interface Source {
  readonly kind: SourceKind;
  readonly name: string;
}

/** `arrived = recorded + duplicates + rejected + unmatched`, in spans, log records, queries, imported counts or lines. */
export const COUNT_NAMES = [
  'requests',
  'refused',
  'arrived',
  'recorded',
  'duplicates',
  'rejected',
  'unmatched',
] as const;

export type IngestionCounts = Readonly<Record<(typeof COUNT_NAMES)[number], number>>;

/** Why requests of one key, or records in them, were refused or are doubtful. */
export interface Refusal {
  readonly reason: RefusalReason;
  /** The id of the key that sent them; null if it is not known. */
  readonly keyId: string | null;
  readonly requests: number;
  /** Records that were rejected while others of their requests were accepted, or that are doubtful. */
  readonly records: number;
}

/** What one request, or the run of a command, brought from one source. */
export interface Delivery extends Source {
  /** 0 for those left out. */
  readonly counts: Partial<IngestionCounts>;
  /** How many of the unmatched records had an operation (see `operations.ts`). */
  readonly operations?: ReadonlyMap<string, number>;
  readonly refusals?: readonly Refusal[];
}

export interface SourceTotals extends Source {
  readonly counts: IngestionCounts;
  readonly operations: ReadonlyMap<string, number>;
}

/** What came from a source within one bucket. */
export interface SourceBucket extends SourceTotals {
  /** The start of the bucket in milliseconds since 1970. So is `seenAt`, the last time something came. */
  readonly bucket: number;
  readonly seenAt: number;
  readonly refusals?: readonly Refusal[];
}

/** Sources are counted in buckets of this width. */
export const bucketWidthMs = 5 * minuteMs;

/** The start of the bucket that a time is in. */
export function bucketStart(timeMs: number): number {
  return timeMs - (((timeMs % bucketWidthMs) + bucketWidthMs) % bucketWidthMs);
}

/** The name of what comes from further sources once a project has as many as it can have. */
export const OTHER_SOURCES = '(other sources)';

/** The name of a source that does not say who it is. */
export const UNKNOWN_SOURCE = '(unknown)';

/** The name of what sends without a key that the server knows. Anybody can be this source. */
export const UNKNOWN_KEY = '(unknown key)';

/** The name, and the user agent, of the command that imports. */
export const IMPORT_COMMAND = 'caller-stats import';

/**
 * A name for lists: without control characters, and not longer than `sourceNameCharactersMax`. Reads only the beginning of
 * what was sent: each span of a request asks for the name of its service, and one resource can name it with millions of
 * characters.
 */
export function sourceName(sent: string | undefined): string {
  const name = (sent ?? '')
    .slice(0, 4 * sourceNameCharactersMax)
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ')
    .trim();
  return [...name].slice(0, sourceNameCharactersMax).join('') || UNKNOWN_SOURCE;
}

/** Gives sources that a project has no room for the name `OTHER_SOURCES`. Those of `known` have room. */
export class SourceNames {
  readonly #known: Set<string>;

  constructor(known: Iterable<Source> = []) {
    this.#known = new Set(Array.from(known, sourceKey));
  }

  bound<One extends Source>(source: One): One {
    const key = sourceKey(source);
    if (this.#known.has(key)) return source;
    if (this.#known.size >= sourcesMax) return { ...source, name: OTHER_SOURCES };
    this.#known.add(key);
    return source;
  }
}

export function sourceKey({ kind, name }: Source): string {
  return `${kind} ${name}`;
}

/** The end of an operation that is a request which asks (see `operations.ts`). */
export const ASKS = '\tasks';
/** The end of one that a rule would accept, of which it is not known whether it is a request. */
export const UNSURE = '\tunsure';

/** Adds `more` to the counts of operations, without exceeding the number that a source can have. */
export function addOperations(to: Map<string, number>, more: ReadonlyMap<string, number>): void {
  for (const [operation, count] of more) {
    const before = to.get(operation);
    if (before !== undefined || hasRoomFor(operation, to)) to.set(operation, (before ?? 0) + count);
  }
}

/** Whether a source can have another operation. Requests that ask, or may, have room of their own beside all others, as pages have many routes. */
export function hasRoomFor(
  operation: string,
  named: ReadonlyMap<string, number> | ReadonlySet<string>,
): boolean {
  if (named.size < operationsMax) return true;
  const asks = (one: string) => one.endsWith(ASKS) || one.endsWith(UNSURE);
  return [...named.keys()].filter((one) => asks(one) === asks(operation)).length < operationsMax;
}

/** Adds to refusals, without exceeding the number of different ones that a source can have. */
function addRefusals(to: Refusal[], more: readonly Refusal[]): void {
  for (const one of more) {
    const at = to.findIndex(({ reason, keyId }) => reason === one.reason && keyId === one.keyId);
    const before = to[at];
    if (before !== undefined)
      to[at] = {
        ...one,
        requests: before.requests + one.requests,
        records: before.records + one.records,
      };
    else if (to.length < refusalsMax) to.push(one);
  }
}

export const NO_COUNTS = Object.fromEntries(COUNT_NAMES.map((name) => [name, 0])) as IngestionCounts;

interface GrowingBucket extends SourceBucket {
  seenAt: number;
  readonly counts: { -readonly [Name in keyof IngestionCounts]: number };
  readonly operations: Map<string, number>;
  readonly refusals: Refusal[];
}

/** What came to one project since the last time that it was stored. */
export class IngestionTally {
  readonly #names: SourceNames;
  readonly #buckets = new Map<string, GrowingBucket>();

  /** `known` are the sources that the project has already. */
  constructor(known: Iterable<Source> = []) {
    this.#names = new SourceNames(known);
  }

  add(delivery: Delivery, nowMs: number): void {
    this.#add(delivery, bucketStart(nowMs), nowMs);
  }

  /** Adds what was counted before. */
  addBuckets(buckets: readonly SourceBucket[]): void {
    for (const one of buckets) this.#add(one, one.bucket, one.seenAt);
  }

  list(): SourceBucket[] {
    return [...this.#buckets.values()];
  }

  /** Changes sums in place, because every recording request does this. */
  #add(delivery: Delivery, bucket: number, seenAt: number): void {
    const { kind, name, counts, operations, refusals } = this.#names.bound(delivery);
    const key = `${bucket} ${kind} ${name}`;
    let sum = this.#buckets.get(key);
    if (sum === undefined) {
      sum = { kind, name, bucket, seenAt, counts: { ...NO_COUNTS }, operations: new Map(), refusals: [] };
      this.#buckets.set(key, sum);
    }
    sum.seenAt = Math.max(seenAt, sum.seenAt);
    for (const one of COUNT_NAMES) sum.counts[one] += counts[one] ?? 0;
    if (operations !== undefined) addOperations(sum.operations, operations);
    if (refusals !== undefined) addRefusals(sum.refusals, refusals);
  }
}
