/**
 * Finds the queries among the spans and log records of OpenTelemetry.
 *
 * One question produces many spans: agents, model calls, tools, retries. They arrive in any order, in any batch, on any
 * node, so a span cannot be recognized as the outermost one. All of them share their trace, so by default the trace id is
 * the query's id: the first span that matches the rules records the query, and later ones are duplicates.
 */

import { beforeRowsProblem } from '../projects/retention.js';
import { failure, type Result, success } from '../result.js';
import { type CallerRules, callerRulesProblems, detectCaller } from './caller-detection.js';
import { parseQuery, type Query } from './query.js';

/** Attributes by name, with values as text; only those that `isReadAttribute` selects. */
export type Attributes = ReadonlyMap<string, string>;

/** The fields of a span or log record that matter here. */
export interface TelemetryRecord {
  /** As sent, in lower-case hexadecimal digits; empty if missing. So is `spanId`. */
  readonly traceId: string;
  readonly spanId: string;
  /** The start of a span or the time of a log record, in nanoseconds since 1970-01-01T00:00:00Z; 0 if missing. */
  readonly timeNs: bigint;
  readonly attributes: Attributes;
  /** The attributes of the sender. */
  readonly resource: Attributes;
}

/**
 * The source of a query's id: the trace, the span, or an attribute. There is no fallback from one to another: if only some
 * spans of a question had the attribute, the question would become two queries.
 */
export type IdSource = 'trace' | 'span' | { readonly attribute: string };

export interface TelemetryRules {
  /** A record is a query if it has this attribute with one of these values, or with any value if the list is empty. */
  readonly query: { readonly attribute: string; readonly values: readonly string[] };
  /** A record without the attribute named here is not a query. */
  readonly id: IdSource;
  /** The attribute that names the caller, of the record or otherwise of its resource. */
  readonly callerAttribute: string;
  /** How to detect the caller from header attributes if no attribute names it. */
  readonly detection: CallerRules;
}

const HEADER = 'http.request.header.';
/** The current name in the semantic conventions, and the previous one. */
const USER_AGENTS: readonly string[] = ['user_agent.original', 'http.user_agent'];

/** Whether the rules read an attribute. All others, such as prompts and answers, are not even decoded. */
export function isReadAttribute({ query, id, callerAttribute }: TelemetryRules, name: string): boolean {
  return (
    name === query.attribute ||
    name === callerAttribute ||
    name.startsWith(HEADER) ||
    USER_AGENTS.includes(name) ||
    (typeof id === 'object' && name === id.attribute)
  );
}

export interface FoundQueries {
  /** Without duplicate ids. */
  readonly queries: readonly Query[];
  /** The number of records that match the rules but are invalid. */
  readonly rejected: number;
  /** The problems of the first few rejected records. */
  readonly problems: readonly string[];
}

const problemsNamedMax = 5;

/** Collects the queries among records. Keeps nothing else, because a request may have millions of records. */
export class QueryCollector {
  readonly #rules: TelemetryRules;
  readonly #nowMs: number;
  readonly #rowsFrom: number | null;
  readonly #found = new Map<string, Found>();
  readonly #problems: string[] = [];
  #rejected = 0;

  /** `nowMs` is the time of receipt. Queries from before `rowsFrom` are invalid (see `Project`). */
  constructor(rules: TelemetryRules, { nowMs, rowsFrom }: { nowMs: number; rowsFrom: number | null }) {
    this.#rules = rules;
    this.#nowMs = nowMs;
    this.#rowsFrom = rowsFrom;
  }

  /** The number of different queries so far. */
  get size(): number {
    return this.#found.size;
  }

  add(record: TelemetryRecord): void {
    if (!isQuery(record, this.#rules)) return;
    const found = this.#read(record);
    if (found.ok) {
      const before = this.#found.get(found.value.query.id);
      this.#found.set(found.value.query.id, before === undefined ? found.value : merge(before, found.value));
    } else if (++this.#rejected <= problemsNamedMax) {
      this.#problems.push(`${describe(record)}: ${found.problems.join('; ')}`);
    }
  }

  result(): FoundQueries {
    const queries = [...this.#found.values()].map(({ query }) => query);
    return { queries, rejected: this.#rejected, problems: this.#problems };
  }

  #read(record: TelemetryRecord): Result<Found> {
    const id = readId(record, this.#rules.id);
    if (id === undefined) {
      const missing = this.#rules.id === 'span' ? 'trace id and span id' : 'trace id';
      return failure(`has no valid ${missing}, so that a repeat could not be told from another query`);
    }
    const { caller, isNamed } = readCaller(record, this.#rules);
    // Drops digits finer than a millisecond. Any 64 bits of nanoseconds end before the year 2555.
    const time = new Date(Number(record.timeNs / 1_000_000n)).toISOString();
    const query = parseQuery({ id, caller, ...(record.timeNs !== 0n && { occurredAt: time }) }, this.#nowMs);
    if (!query.ok) return query;
    if (this.#rowsFrom !== null && query.value.occurredAt < this.#rowsFrom) {
      return failure(beforeRowsProblem(new Date(this.#rowsFrom).toISOString()));
    }
    return success({ query: query.value, isNamed, namedAt: query.value.occurredAt });
  }
}

/** A query, and the reliability of its caller. */
interface Found {
  readonly query: Query;
  /** Whether the record named a caller or one was detected. */
  readonly isNamed: boolean;
  /** The time of the record that the caller comes from. */
  readonly namedAt: number;
}

/** Merges two records of one query: the earliest time, and the caller of the earliest record that has one. */
function merge(one: Found, other: Found): Found {
  const named = isMoreReliable(other, one) ? other : one;
  const occurredAt = Math.min(one.query.occurredAt, other.query.occurredAt);
  return { ...named, query: { ...named.query, occurredAt } };
}

/** Does not depend on the order of the records in the request. */
function isMoreReliable(one: Found, other: Found): boolean {
  if (one.isNamed !== other.isNamed) return one.isNamed;
  if (one.namedAt !== other.namedAt) return one.namedAt < other.namedAt;
  return one.query.caller < other.query.caller;
}

function isQuery({ attributes }: TelemetryRecord, { query, id }: TelemetryRules): boolean {
  const value = attributes.get(query.attribute);
  if (value === undefined || !(query.values.length === 0 || query.values.includes(value))) return false;
  return typeof id !== 'object' || (attributes.get(id.attribute) ?? '') !== '';
}

/** Writes a trace id as a UUID, which stores keep in 16 bytes. All zeros means no id (W3C Trace Context). */
function readId({ traceId, spanId, attributes }: TelemetryRecord, source: IdSource): string | undefined {
  if (typeof source === 'object') return attributes.get(source.attribute);
  if (!/^[0-9a-f]{32}$/.test(traceId) || /^0+$/.test(traceId)) return undefined;
  if (source === 'trace') return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return /^[0-9a-f]{16}$/.test(spanId) && !/^0+$/.test(spanId) ? `${traceId}-${spanId}` : undefined;
}

function readCaller({ attributes, resource }: TelemetryRecord, rules: TelemetryRules) {
  const { callerAttribute, detection } = rules;
  // An empty fallback cannot be confused with a detected name.
  const caller =
    attributes.get(callerAttribute) ||
    resource.get(callerAttribute) ||
    detectCaller({ headers: readHeaders(attributes) }, { ...detection, fallback: '' });
  return { caller: caller || (detection.fallback ?? 'unknown'), isNamed: caller !== '' };
}

/** The request headers among the attributes. Older instrumentation writes `_` for `-`. */
function readHeaders(attributes: Attributes) {
  return {
    get(name: string): string | null {
      const agents = name === 'user-agent' ? USER_AGENTS : [];
      const names = [...agents, `${HEADER}${name}`, `${HEADER}${name.replaceAll('-', '_')}`];
      return names.map((one) => attributes.get(one)).find((value) => value !== undefined) ?? null;
    },
  };
}

function describe({ traceId, spanId }: TelemetryRecord): string {
  const ids = [traceId, spanId].filter((id) => id !== '').map((id) => id.slice(0, 32));
  return ids.length === 0 ? 'a record without trace id' : ids.join('/');
}

/** The rules below use `=` and `,` as separators. */
const attributeName = /^[^\s=,]{1,255}$/;

/** Parses the setting that says which records are queries: `name=value,value`, or the name alone for any value. */
export function parseQueryRule(text: string): Result<TelemetryRules['query']> {
  const [attribute = '', ...rest] = text.split('=');
  const values = rest.length === 0 ? [] : rest.join('=').split(',');
  return attributeName.test(attribute) && !values.includes('')
    ? success({ attribute, values })
    : failure('is not an attribute and its values, as gen_ai.operation.name=invoke_agent');
}

/** Parses the setting of the id: `trace`, `span` or the name of an attribute. */
export function parseIdSource(text: string): Result<IdSource> {
  if (text === 'trace' || text === 'span') return success(text);
  return attributeName.test(text)
    ? success({ attribute: text })
    : failure('is neither trace nor span nor the name of an attribute');
}

export function parseAttributeName(text: string): Result<string> {
  return attributeName.test(text) ? success(text) : failure('is not the name of an attribute');
}

/** Parses a comma-separated list of the documentation site's origins. */
export function parseSiteOrigins(text: string): Result<readonly string[]> {
  const siteOrigins = text.split(',').map((origin) => origin.trim());
  return callerRulesProblems({ siteOrigins }).length === 0
    ? success(siteOrigins)
    : failure('is not a list of origins such as https://docs.example.com or https://*.example.com');
}
