/**
 * Which of the spans and log records that an assistant's instrumentation sends are queries, and what is kept of them.
 *
 * One question makes many spans: the agent, sub-agents, model calls, tools, retries of all of these. They end, and so
 * arrive, one by one, in any order, in any batch, to any node, so whether a span is the outermost of its kind cannot be
 * told when it comes. What all of them share is their trace. So the trace is the query, unless told otherwise: its id is
 * the query's id, whichever of its spans says first that it is one, and whatever comes later is a duplicate.
 */

import { failure, type Result, success } from '../result.js';
import { type CallerRules, callerRulesProblems, detectCaller } from './caller-detection.js';
import { parseQuery, type Query } from './query.js';

/** Attributes by name, each value as text; only those that `isReadAttribute` asks for. */
export type Attributes = ReadonlyMap<string, string>;

/** A span or log record, as far as it is looked at. */
export interface TelemetryRecord {
  /** Hexadecimal digits in small letters, as many as were sent; empty for none. */
  readonly traceId: string;
  /** The same. */
  readonly spanId: string;
  /** When it began, or was written: nanoseconds since 1970-01-01T00:00:00Z; 0 where it does not say. */
  readonly timeNs: bigint;
  readonly attributes: Attributes;
  /** Those of what sent it. */
  readonly resource: Attributes;
}

/**
 * Where a query's id comes from: its trace, its span, or an attribute of the record. One of them for all: were an
 * attribute tried first and the trace next, a question whose agent has the attribute and whose sub-agents have not
 * would be two queries.
 */
export type IdSource = 'trace' | 'span' | { readonly attribute: string };

/** Which records are queries, and how they are read. */
export interface TelemetryRules {
  /** A record is a query if it has this attribute with one of these values; with any value where there are none. */
  readonly query: { readonly attribute: string; readonly values: readonly string[] };
  /** A record without the attribute that is named here is no query. */
  readonly id: IdSource;
  /** The attribute, of the record or else of its resource, that names the caller. */
  readonly callerAttribute: string;
  /** How the caller is told from attributes that hold headers, where no attribute names it. */
  readonly detection: CallerRules;
}

const HEADER = 'http.request.header.';
/** The convention's name of today and the one before it. */
const USER_AGENTS: readonly string[] = ['user_agent.original', 'http.user_agent'];

/** Whether anything is done with an attribute of this name: prompts and answers need not even be decoded. */
export function isReadAttribute({ query, id, callerAttribute }: TelemetryRules, name: string): boolean {
  return (
    name === query.attribute ||
    name === callerAttribute ||
    name.startsWith(HEADER) ||
    USER_AGENTS.includes(name) ||
    (typeof id === 'object' && name === id.attribute)
  );
}

/** What became of the records of one request. */
export interface FoundQueries {
  /** Each id once. */
  readonly queries: readonly Query[];
  /** How many records are queries, but invalid ones. */
  readonly rejected: number;
  /** What is wrong with the first few of those. */
  readonly problems: readonly string[];
}

const problemsNamedMax = 5;

/** Takes records one by one, and keeps of them the queries alone: there may be millions of records in a request. */
export class QueryCollector {
  readonly #rules: TelemetryRules;
  readonly #nowMs: number;
  readonly #rowsFrom: number | null;
  readonly #found = new Map<string, Found>();
  readonly #problems: string[] = [];
  #rejected = 0;

  /** `nowMs` is the time of receipt; queries from before `rowsFrom` are invalid (see `Project`). */
  constructor(rules: TelemetryRules, { nowMs, rowsFrom }: { nowMs: number; rowsFrom: number | null }) {
    this.#rules = rules;
    this.#nowMs = nowMs;
    this.#rowsFrom = rowsFrom;
  }

  /** How many different queries there are so far. */
  get size(): number {
    return this.#found.size;
  }

  add(record: TelemetryRecord): void {
    if (!isQuery(record, this.#rules)) return;
    const found = this.#read(record);
    if (!found.ok) {
      this.#rejected++;
      if (this.#problems.length < problemsNamedMax)
        this.#problems.push(`${nameOf(record)}: ${found.problems.join('; ')}`);
      return;
    }
    const before = this.#found.get(found.value.query.id);
    this.#found.set(found.value.query.id, before === undefined ? found.value : together(before, found.value));
  }

  result(): FoundQueries {
    const queries = [...this.#found.values()].map(({ query }) => query);
    return { queries, rejected: this.#rejected, problems: this.#problems };
  }

  #read(record: TelemetryRecord): Result<Found> {
    const id = idOf(record, this.#rules.id);
    if (id === undefined) {
      const missing = this.#rules.id === 'span' ? 'trace id and span id' : 'trace id';
      return failure(`has no valid ${missing}, so that a repeat could not be told from another query`);
    }
    const { caller, isNamed } = callerOf(record, this.#rules);
    const occurredAt = record.timeNs === 0n ? {} : { occurredAt: timestampOf(record.timeNs) };
    const query = parseQuery({ id, caller, ...occurredAt }, this.#nowMs);
    if (!query.ok) return query;
    if (this.#rowsFrom !== null && query.value.occurredAt < this.#rowsFrom) {
      const since = new Date(this.#rowsFrom).toISOString();
      return failure(`occurredAt: lies before ${since}, from when on the project keeps rows`);
    }
    return success({ query: query.value, isNamed, namedAt: query.value.occurredAt });
  }
}

/** A query, and how sure its caller is. */
interface Found {
  readonly query: Query;
  /** Whether anything said who the caller is. */
  readonly isNamed: boolean;
  /** The time of the record that its caller is from. */
  readonly namedAt: number;
}

/** Two records of one query: it was asked when the first began, by whom the first that names anybody says. */
function together(one: Found, other: Found): Found {
  const named = isSurer(other, one) ? other : one;
  const occurredAt = Math.min(one.query.occurredAt, other.query.occurredAt);
  return { ...named, query: { ...named.query, occurredAt } };
}

/** The same whichever of the two came first in the request. */
function isSurer(one: Found, other: Found): boolean {
  if (one.isNamed !== other.isNamed) return one.isNamed;
  if (one.namedAt !== other.namedAt) return one.namedAt < other.namedAt;
  return one.query.caller < other.query.caller;
}

function isQuery({ attributes }: TelemetryRecord, { query, id }: TelemetryRules): boolean {
  const value = attributes.get(query.attribute);
  if (value === undefined || !(query.values.length === 0 || query.values.includes(value))) return false;
  return typeof id !== 'object' || (attributes.get(id.attribute) ?? '') !== '';
}

/** A trace id is written as a UUID, which stores keep in 16 bytes. All zeros means none (W3C Trace Context). */
function idOf({ traceId, spanId, attributes }: TelemetryRecord, source: IdSource): string | undefined {
  if (typeof source === 'object') return attributes.get(source.attribute);
  if (!/^[0-9a-f]{32}$/.test(traceId) || /^0+$/.test(traceId)) return undefined;
  if (source === 'trace') return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return /^[0-9a-f]{16}$/.test(spanId) && !/^0+$/.test(spanId) ? `${traceId}-${spanId}` : undefined;
}

function callerOf({ attributes, resource }: TelemetryRecord, { callerAttribute, detection }: TelemetryRules) {
  const given = attributes.get(callerAttribute) || resource.get(callerAttribute);
  if (given !== undefined && given !== '') return { caller: given, isNamed: true };
  // Any name that is no caller's: what is detected can never be mistaken for what nothing was detected of.
  const detected = detectCaller({ headers: headersOf(attributes) }, { ...detection, fallback: '' });
  return detected === ''
    ? { caller: detection.fallback ?? 'unknown', isNamed: false }
    : { caller: detected, isNamed: true };
}

/** The headers that instrumentation of an HTTP server was told to write down. Older ones turn `-` into `_`. */
function headersOf(attributes: Attributes) {
  return {
    get(name: string): string | null {
      const agents = name === 'user-agent' ? USER_AGENTS : [];
      const names = [...agents, `${HEADER}${name}`, `${HEADER}${name.replaceAll('-', '_')}`];
      return names.map((one) => attributes.get(one)).find((value) => value !== undefined) ?? null;
    },
  };
}

/** Digits finer than a millisecond are dropped. Any 64 bits of nanoseconds can be written: they end in 2554. */
function timestampOf(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}

const idCharactersShownMax = 32;

function nameOf({ traceId, spanId }: TelemetryRecord): string {
  const ids = [traceId, spanId].filter((id) => id !== '').map((id) => id.slice(0, idCharactersShownMax));
  return ids.length === 0 ? 'one without trace' : ids.join('/');
}

/** What a name of an attribute may be made of here: the lists below need `=` and `,` for themselves. */
const attributeName = /^[^\s=,]{1,255}$/;

/** `name=value,value`: an attribute and the values that make a query; the name alone for any value. */
export function parseQueryRule(text: string): Result<TelemetryRules['query']> {
  const at = text.indexOf('=');
  const attribute = at === -1 ? text : text.slice(0, at);
  const values = at === -1 ? [] : text.slice(at + 1).split(',');
  return attributeName.test(attribute) && !values.includes('')
    ? success({ attribute, values })
    : failure('is not an attribute and its values, as gen_ai.operation.name=invoke_agent');
}

/** `trace`, `span`, or the attribute that holds a query's id. */
export function parseIdSource(text: string): Result<IdSource> {
  if (text === 'trace' || text === 'span') return success(text);
  return attributeName.test(text)
    ? success({ attribute: text })
    : failure('is neither trace nor span nor the name of an attribute');
}

export function parseAttributeName(text: string): Result<string> {
  return attributeName.test(text) ? success(text) : failure('is not the name of an attribute');
}

/** Origins of the documentation site, with commas between them. */
export function parseSiteOrigins(text: string): Result<readonly string[]> {
  const siteOrigins = text.split(',').map((origin) => origin.trim());
  return callerRulesProblems({ siteOrigins }).length === 0
    ? success(siteOrigins)
    : failure('is not a list of origins such as https://docs.example.com or https://*.example.com');
}
