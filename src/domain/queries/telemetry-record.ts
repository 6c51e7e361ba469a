/** What one span or log record says, according to the rules of its project. */
import { createHash } from 'node:crypto';
import { BoundedCache } from '../../shared/bounded-cache.js';
import { OPERATION_ATTRIBUTES } from '../ingestion/operations.js';
import { sourceName } from '../ingestion/source-counts.js';
import {
  type CallerRules,
  callerOfClient,
  detectCaller,
  KNOWN_CALLERS,
  type KnownCaller,
} from './caller-detection.js';
import { isQueryId } from './query.js';
import type { QueryKeys } from './query-identity.js';
import { type ReadRecord, RuleMatcher } from './rule-matcher.js';
import {
  ASGI_EVENT,
  ASKING_METHODS,
  CALL_NAMES,
  CALL_RULES,
  HTTP_METHODS,
  HTTP_STATUSES,
  ID_ATTRIBUTES,
  IGNORE_PATTERNS,
  IGNORE_RULES,
  isBesideAnswer,
  isEmbedding,
  isNoQuestion,
  isTurn,
  LANGFUSE_METADATA,
  LANGFUSE_MODEL,
  LANGFUSE_ROOT,
  MCP_CLIENT,
  MCP_METHODS,
  matchesRules,
  ROUTES,
  RPC_SYSTEMS,
  RUN_IDS,
  STEP_NAME,
  STEP_ROUTE,
  TARGET,
  TURN_ATTRIBUTES,
  URI,
  USER_AGENTS,
  withMetadata,
} from './telemetry-rules.js';
import type { TelemetryRules } from './telemetry-settings.js';
import type { EntryKind } from './trace.js';

/** Attributes by name, with values as text; only those that are read. */
export type Attributes = ReadonlyMap<string, string>;

/** The fields of a span or log record that matter here. */
export interface TelemetryRecord extends ReadRecord {
  /** As sent, in lower-case hexadecimal digits; empty if missing. So are `spanId` and `parentSpanId`. */
  readonly traceId: string;
  /** Of a log record, the span in which it was written. */
  readonly spanId: string;
  readonly isConsumer: boolean;
  /** The start of a span or the time of a log record, in nanoseconds since 1970-01-01T00:00:00Z; 0 if missing. */
  readonly timeNs: bigint;
  /** The end of a span that waits for a message over a WebSocket; undefined for all others. */
  readonly endNs?: bigint | undefined;
}

/** The attribute that names the service which sent a record. */
const SERVICE_ATTRIBUTE = 'service.name';

/** The id that a model gave its answer. */
const RESPONSE_ID = 'gen_ai.response.id';
/** Some models number their answers, as chatcmpl-123: these are not ids. */
const responseIdMin = 16;

const HEADER = 'http.request.header.';

const isOfSdk = ({ header }: KnownCaller) => header === 'x-stainless-lang';
/** What tells who asks; and what programs send with each request, also a service to a gateway or an agent that works for it. */
const ASKERS: CallerRules = {
  known: KNOWN_CALLERS.filter((one) => !isOfSdk(one)),
  ...{ apiHeaders: [], fallback: '' },
};
const HINTS: CallerRules = { known: KNOWN_CALLERS.filter(isOfSdk), fallback: '' };

/** What does not change between requests, so that an attribute costs the same with any number of rules. */
interface Prepared {
  readonly matcher: RuleMatcher;
  readonly askers: CallerRules;
  readonly callerNames: readonly string[];
  readonly attributes: ReadonlySet<string>;
}

/** Preparing rules takes longer than reading a span. */
const prepared = new WeakMap<TelemetryRules, Prepared>();

function prepare(rules: TelemetryRules): Prepared {
  const matcher = new RuleMatcher(rules.queries);
  const callerNames = withMetadata(rules.callerAttribute);
  const attributes = new Set([
    ...matcher.attributes,
    ...callerNames,
    ...USER_AGENTS,
    ...ID_ATTRIBUTES,
    RESPONSE_ID,
    ...HTTP_METHODS,
    ...HTTP_STATUSES,
    ...MCP_METHODS,
    ...ROUTES,
    TARGET,
    URI,
    ...RPC_SYSTEMS,
    ...RUN_IDS,
    ...TURN_ATTRIBUTES,
    ...IGNORE_RULES.map(({ attribute }) => attribute),
    ...IGNORE_PATTERNS.map(([attribute]) => attribute),
    ...CALL_NAMES,
    ...[ASGI_EVENT, LANGFUSE_MODEL, LANGFUSE_ROOT, MCP_CLIENT],
    SERVICE_ATTRIBUTE,
    ...OPERATION_ATTRIBUTES,
    ...(typeof rules.id === 'object' ? [rules.id.attribute] : []),
  ]);
  return { matcher, askers: { ...rules.detection, ...ASKERS }, callerNames, attributes };
}

/** Reads the records of a request. */
export class RecordRules {
  /** The attributes that are read, besides headers. */
  readonly attributes: ReadonlySet<string>;
  readonly #rules: TelemetryRules;
  readonly #prepared: Prepared;
  /** The name of the sender of the last record: one sends thousands. */
  #last: { readonly resource: Attributes; readonly service: string } | undefined;

  constructor(rules: TelemetryRules) {
    this.#rules = rules;
    this.#prepared = prepared.get(rules) ?? prepare(rules);
    prepared.set(rules, this.#prepared);
    this.attributes = this.#prepared.attributes;
  }

  /** Whether an attribute is read. All others, such as prompts and answers, are not even decoded. */
  reads(name: string): boolean {
    return this.attributes.has(name) || name.startsWith(HEADER);
  }

  /** Whether the record belongs to a query. */
  accepts(record: TelemetryRecord): boolean {
    const { id } = this.#rules;
    if (typeof id === 'object' && (record.attributes.get(id.attribute) ?? '') === '') return false;
    return this.#prepared.matcher.accepts(record) && !isEmbedding(record.name, record.attributes);
  }

  /** Whether the record says that neither it nor anything below it belongs to a query. */
  ignores({ name, parentSpanId, isEntry, attributes, resource }: TelemetryRecord): boolean {
    return (
      matchesRules(attributes, IGNORE_RULES) ||
      matchesRules(resource, IGNORE_RULES) ||
      (!isEntry && (isNoQuestion(name, parentSpanId === '') || isBesideAnswer(name))) ||
      CALL_NAMES.some((one) => isBesideAnswer(attributes.get(one))) ||
      IGNORE_PATTERNS.some(([attribute, pattern]) => {
        const value = attributes.get(attribute);
        return value !== undefined && pattern.test(value);
      })
    );
  }

  /**
   * Whether a request to a server, or a message to a consumer, begins with it. Some SDKs write a model call as the span of a
   * server, or below a span from elsewhere.
   */
  isEntry({ name, isEntry, attributes }: TelemetryRecord): boolean {
    if (attributes.get(LANGFUSE_ROOT) === 'true' || isTurn(name, attributes)) return true;
    if (!isEntry) return false;
    return HTTP_METHODS.some((name) => attributes.has(name)) || !matchesRules(attributes, CALL_RULES);
  }

  /**
   * What an entry is: a request that asks for work, as opposed to one for a page; or a step of work that began elsewhere, such as
   * a message, an activity of a workflow, or a call of a model by a gateway; or a turn of a conversation. Undefined if it may be
   * either of the first two.
   */
  entryKind({ name, isEntry, isConsumer, attributes }: TelemetryRecord): EntryKind | undefined {
    if (isTurn(name, attributes)) return 'message';
    if (!isEntry) return 'root';
    const isOfRun = STEP_NAME.test(name) || RUN_IDS.some((one) => attributes.has(one));
    const route = firstOf(attributes, ROUTES) ?? name;
    if (isConsumer || isOfRun || STEP_ROUTE.test(route)) return 'step';
    // Without its method, the name of a request begins with it.
    const method = firstOf(attributes, HTTP_METHODS) ?? /^[A-Z]+/.exec(name)?.[0] ?? '';
    const isCall = RPC_SYSTEMS.some((system) => attributes.has(system));
    return isCall || ASKING_METHODS.includes(method) ? 'request' : undefined;
  }

  /** Whether a request over HTTP brought headers; undefined for all else. */
  hasHeaders({ isEntry, attributes }: TelemetryRecord): boolean | undefined {
    if (!isEntry || !HTTP_METHODS.some((name) => attributes.has(name))) return undefined;
    return bringsHeaders(attributes);
  }

  /** What the record itself says of its query. */
  keysOf({ traceId, spanId, attributes, resource }: TelemetryRecord): QueryKeys {
    const source = this.#rules.id;
    const service = this.serviceOf(resource);
    const trace = isTraceId(traceId) ? { traceId } : {};
    if (source === 'question') return { ...trace, service, explicitId: explicitIdOf(attributes) };
    if (typeof source === 'object') return { service, explicitId: attributes.get(source.attribute) };
    if (source === 'trace') return { ...trace, service };
    return isSpanId(spanId) ? { ...trace, service, entrySpanId: spanId } : { service };
  }

  /** The caller that the record names, or that headers tell which only come from who asks; empty if there is none. */
  callerOf({ attributes, resource }: TelemetryRecord): string {
    const { callerAttribute } = this.#rules;
    const named = firstOf(attributes, this.#prepared.callerNames) || resource.get(callerAttribute);
    if (named) return named;
    const detected = detect(attributes, this.#prepared.askers);
    return ['', 'mcp'].includes(detected)
      ? callerOfClient(attributes.get(MCP_CLIENT) ?? '') || detected
      : detected;
  }

  /** The caller that a key or an SDK hints at; empty if there is none. A service, too, sends these to those that work for it. */
  hintOf({ attributes }: TelemetryRecord): string {
    return detect(attributes, HINTS);
  }

  serviceOf(resource: Attributes): string {
    if (this.#last?.resource !== resource)
      this.#last = { resource, service: sourceName(resource.get(SERVICE_ATTRIBUTE)) };
    return this.#last.service;
  }
}

/** All zeros means no id (W3C Trace Context). */
export function isTraceId(traceId: string): boolean {
  return /^[0-9a-f]{32}$/.test(traceId) && !/^0+$/.test(traceId);
}

export function isSpanId(spanId: string): boolean {
  return /^[0-9a-f]{16}$/.test(spanId) && !/^0+$/.test(spanId);
}

/** What programs write when an id is missing or has another type. Taken as ids, they would count all queries as one. */
const NO_ID = /^(true|false|null|none|nil|undefined|nan|\[object \w+\])$/i;

/** The id that the application gave the query. */
export function explicitIdOf(attributes: Attributes): string | undefined {
  const id = firstOf(attributes, ID_ATTRIBUTES);
  return id === undefined || NO_ID.test(id) ? undefined : id;
}

/** The run of a workflow, or the message, of which a span is a step: 16 hexadecimal digits, like the id of a span. */
export function runOf(attributes: Attributes): string | undefined {
  const id = firstOf(attributes, RUN_IDS);
  return id === undefined ? undefined : createHash('sha256').update(id).digest('hex').slice(0, 16);
}

/** The id of the model's answer; undefined without one that no other answer has. */
export function responseIdOf(attributes: Attributes): string | undefined {
  const id = attributes.get(RESPONSE_ID);
  return id !== undefined && id.length >= responseIdMin && isQueryId(id) ? id : undefined;
}

function firstOf(attributes: Attributes, names: readonly string[]): string | undefined {
  if (attributes.size === 0) return undefined;
  for (const name of names) {
    const sent = attributes.get(name);
    const value = name.startsWith(LANGFUSE_METADATA) ? unquoted(sent) : sent;
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** The text that a text of JSON means; any other is left as it is. */
function unquoted(text: string | undefined): string | undefined {
  if (text === undefined || !/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function bringsHeaders(attributes: Attributes): boolean {
  for (const name of attributes.keys())
    if (name.startsWith(HEADER) || USER_AGENTS.includes(name)) return true;
  return false;
}

/** The caller that the request headers among the attributes tell. Most records have none. */
function detect(attributes: Attributes, rules: CallerRules): string {
  return bringsHeaders(attributes)
    ? detectCaller({ headers: readHeaders(attributes) }, rules)
    : (rules.fallback ?? '');
}

/** The request headers among the attributes. Older instrumentation writes `_` for `-`. */
function readHeaders(attributes: Attributes) {
  return {
    get(name: string): string | null {
      for (const one of attributesOf(name)) {
        const value = attributes.get(one);
        if (value !== undefined) return value;
      }
      return null;
    },
  };
}

const headerAttributes = new BoundedCache<string, readonly string[]>(100);

function attributesOf(header: string): readonly string[] {
  return headerAttributes.getOrCreate(header, () => [
    ...(header === 'user-agent' ? USER_AGENTS : []),
    ...[header, header.replaceAll('-', '_')].map((name) => `${HEADER}${name}`),
  ]);
}
