/** Random requests with queries, as the spans and log records that arrive of them, in any order and any batches. */
import fc from 'fast-check';
import { recordTelemetry } from '../../src/app/record-telemetry.js';
import { QueryCollector } from '../../src/domain/queries/telemetry.js';
import type { TelemetryRecord } from '../../src/domain/queries/telemetry-record.js';
import { KNOWN_RULES } from '../../src/domain/queries/telemetry-rules.js';
import type { TelemetryRules } from '../../src/domain/queries/telemetry-settings.js';
import { spanBytes } from '../../src/domain/queries/trace.js';
import { TraceIndex } from '../../src/domain/queries/trace-index.js';
import type { Store } from '../../src/storage/ports/store.js';
import { ASKED, spanId, traceId } from '../support/http/telemetry.js';
import { returned } from '../support/http/telemetry-reading.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');

const rules: TelemetryRules = {
  queries: KNOWN_RULES,
  id: 'question',
  callerAttribute: 'caller_stats.caller',
  detection: {},
};

/** The records of a request that ask, and those above them. A sub-agent is called by the model. */
const ROLES = ['server', 'route', 'agent', 'model', 'log', 'client', 'subServer', 'sub'] as const;
type Role = (typeof ROLES)[number];
const ASKING: readonly Role[] = ['agent', 'model', 'log', 'sub'];
const OF_SUB_AGENT: readonly Role[] = ['subServer', 'sub'];

/** A request to a server that is one query. */
export interface AskedRequest {
  readonly trace: number;
  /** The message that it answers, if the application says so. */
  readonly message: number | undefined;
  /** The records that say so. */
  readonly idOn: readonly Role[];
  /** The service of the sub-agent that it asks, through a server of its own or, if undefined, within the process. */
  readonly subAgentService: string | undefined;
  readonly hasSubAgent: boolean;
  readonly hasRoute: boolean;
  readonly hasLog: boolean;
  /** Whether the span of the page, or of a server in front, arrives as well: the first one of the trace. */
  readonly hasRoot: boolean;
  /** Whether the records that ask have the answer that its gateway has in a trace of its own, like those of other such requests. */
  readonly hasAnswer: boolean;
}

/** A record of a request, and what it is there. */
interface Part {
  readonly request: number;
  readonly role: Role;
  readonly record: TelemetryRecord;
}

function rolesOf({ hasSubAgent, hasRoute, hasLog }: AskedRequest): Role[] {
  return ROLES.filter((role) => {
    if (role === 'route') return hasRoute;
    if (role === 'log') return hasLog;
    return hasSubAgent || !['client', ...OF_SUB_AGENT].includes(role);
  });
}

const ANSWER = { 'gen_ai.response.id': 'chatcmpl-0123456789' };

/** The record of a role in the request with this number. */
function toRecord(request: AskedRequest, number: number, role: Role): TelemetryRecord {
  const own = (one: Role) => spanId(100 * (number + 1) + ROLES.indexOf(one));
  const parents: Record<Role, string> = {
    server: spanId(1 + request.trace),
    route: own('server'),
    agent: own(request.hasRoute ? 'route' : 'server'),
    model: own('agent'),
    log: '',
    client: own('model'),
    subServer: own('client'),
    sub: own('subServer'),
  };
  const { subAgentService = 'docs', message, idOn, hasAnswer } = request;
  const isElsewhere = OF_SUB_AGENT.includes(role);
  const id = message !== undefined && idOn.includes(role) ? { 'caller_stats.id': `message ${message}` } : {};
  const isAsking = ASKING.includes(role) || 'caller_stats.id' in id;
  const answer = hasAnswer && isAsking ? ANSWER : {};
  const caller = role === 'server' ? { 'caller_stats.caller': 'web' } : {};
  return {
    traceId: traceId(request.trace),
    // A log record has the span in which it was written.
    spanId: own(role === 'log' ? 'agent' : role),
    parentSpanId: parents[role],
    isEntry: role === 'server' || (role === 'subServer' && request.subAgentService !== undefined),
    name: '',
    isConsumer: false,
    isLog: role === 'log',
    timeNs: BigInt(nowMs + 100 * number + ROLES.indexOf(role)) * 1_000_000n,
    attributes: new Map(
      Object.entries({ ...(ASKING.includes(role) ? ASKED : {}), ...answer, ...id, ...caller }),
    ),
    resource: new Map([['service.name', isElsewhere ? subAgentService : 'docs']]),
  };
}

/** The first span of the trace. */
function rootOf({ trace }: AskedRequest): TelemetryRecord {
  return {
    ...{
      traceId: traceId(trace),
      spanId: spanId(1 + trace),
      parentSpanId: '',
      name: '',
      isConsumer: false,
      isEntry: true,
      isLog: false,
    },
    timeNs: BigInt(nowMs) * 1_000_000n,
    attributes: new Map(),
    resource: new Map([['service.name', 'docs']]),
  };
}

/** The model call of the gateway. */
const gatewayRecord: TelemetryRecord = {
  ...{
    traceId: traceId(99),
    spanId: spanId(99),
    parentSpanId: '',
    name: '',
    isConsumer: false,
    isEntry: false,
    isLog: false,
  },
  timeNs: BigInt(nowMs) * 1_000_000n,
  attributes: new Map(Object.entries({ ...ASKED, ...ANSWER })),
  resource: new Map([['service.name', 'gateway']]),
};

/** A request whose two spans may arrive anywhere: that of the server, which alone knows the caller, and that of the model. */
interface SplitRequest {
  readonly caller: string;
  /** Whether the model's is right below the server's. Otherwise, what is between them never arrives. */
  readonly isNear: boolean;
}

function spansOf({ caller, isNear }: SplitRequest, trace: number): TelemetryRecord[] {
  const model = {
    ...gatewayRecord,
    traceId: traceId(trace),
    spanId: spanId(2),
    parentSpanId: spanId(isNear ? 1 : 3),
  };
  const of = { 'http.request.method': 'POST', 'caller_stats.caller': caller };
  const server = {
    ...model,
    spanId: spanId(1),
    parentSpanId: '',
    isEntry: true,
    attributes: new Map(Object.entries(of)),
  };
  return [server, { ...model, attributes: new Map(Object.entries(ASKED)) }];
}

/** What the gateway of the requests sends. */
export function recordsOfGateway(requests: readonly AskedRequest[]): TelemetryRecord[] {
  return requests.some(({ hasAnswer }) => hasAnswer) ? [gatewayRecord] : [];
}

function toParts(requests: readonly AskedRequest[]): Part[] {
  return requests.flatMap((request, number) => {
    const parts = rolesOf(request).map((role) => ({
      ...{ request: number, role, record: toRecord(request, number, role) },
    }));
    const root = { request: number, role: 'server', record: rootOf(request) } as const;
    return request.hasRoot ? [root, ...parts] : parts;
  });
}

export function toRecords(requests: readonly AskedRequest[]): TelemetryRecord[] {
  return toParts(requests).map(({ record }) => record);
}

/** The parts of sub-agents after those that lead to them: before, a sub-agent looks like another query. */
function pathsFirst(parts: readonly Part[], requests: readonly AskedRequest[]): Part[] {
  const missing = requests.map(
    (request) => new Set(rolesOf(request).filter((role) => !OF_SUB_AGENT.includes(role))),
  );
  const placed: Part[] = [];
  let waiting: Part[] = [];
  const canBePlaced = (part: Part) => !OF_SUB_AGENT.includes(part.role) || missing[part.request]?.size === 0;
  for (const part of parts) {
    (canBePlaced(part) ? placed : waiting).push(part);
    missing[part.request]?.delete(part.role);
    placed.push(...waiting.filter(canBePlaced));
    waiting = waiting.filter((one) => !canBePlaced(one));
  }
  return placed;
}

interface Delivery {
  readonly records: readonly TelemetryRecord[];
  readonly node: number;
}

export interface Arrival {
  readonly requests: readonly AskedRequest[];
  /** The deliveries of each group arrive at once. */
  readonly groups: readonly (readonly Delivery[])[];
}

/** Spans that arrive one after the other or all at once, some at processes that have just started. */
interface SplitArrival {
  readonly requests: readonly SplitRequest[];
  readonly steps: readonly {
    readonly record: TelemetryRecord;
    readonly node: number;
    readonly starts: boolean;
  }[];
  readonly isAtOnce: boolean;
}

const split = fc.record({ caller: fc.constantFrom('web', 'slack'), isNear: fc.boolean() });

export const splitArrivals: fc.Arbitrary<SplitArrival> = fc
  .array(split, { minLength: 1, maxLength: 4 })
  .chain((requests) => {
    const records = requests.flatMap(spansOf);
    const order = fc.shuffledSubarray(records, { minLength: records.length });
    const places = fc.array(fc.record({ node: fc.nat(1), starts: fc.boolean() }), {
      minLength: records.length,
      maxLength: records.length,
    });
    return fc.tuple(order, places, fc.boolean()).map(([sent, at, isAtOnce]) => {
      const steps = sent.map((record, number) => ({ node: 0, starts: false, ...at[number], record }));
      return { requests, steps, isAtOnce };
    });
  });

/** The records of the requests, some of them twice and some missing, in any order, in any batches. */
export function arrivalOf(
  requests: readonly AskedRequest[],
  { inOrderOfPaths }: { readonly inOrderOfPaths: boolean },
): fc.Arbitrary<Arrival> {
  const parts = toParts(requests);
  const twice = [...parts, ...parts];
  return fc
    .record({
      order: fc.shuffledSubarray([...twice.keys()], { minLength: parts.length }),
      sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      atOnce: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
      nodes: fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 5 }),
    })
    .map(({ order, sizes, atOnce, nodes }) => {
      const shuffled = order.flatMap((at) => twice.slice(at, at + 1));
      const sent = inOrderOfPaths ? pathsFirst(shuffled, requests) : shuffled;
      const deliveries = inBatches(sent, sizes).map((batch, at) => ({
        records: batch.map(({ record }) => record),
        node: nodes[at % nodes.length] ?? 0,
      }));
      return { requests, groups: inBatches(deliveries, atOnce) };
    });
}

function inBatches<One>(all: readonly One[], sizes: readonly number[]): One[][] {
  const batches: One[][] = [];
  for (let at = 0; at < all.length; ) {
    const size = sizes[batches.length % sizes.length] ?? 1;
    batches.push(all.slice(at, at + size));
    at += size;
  }
  return batches;
}

/** A process with its own memory. */
export class Node {
  readonly #index: TraceIndex;
  readonly #store: Pick<Store, 'counts' | 'identities'>;
  readonly #projectId: string;

  constructor(store: Pick<Store, 'counts' | 'identities'>, projectId: string, spansMax = 10_000) {
    this.#store = store;
    this.#projectId = projectId;
    this.#index = new TraceIndex(spansMax * spanBytes);
  }

  async receive(records: readonly TelemetryRecord[]): Promise<void> {
    const receipt = { project: this.#projectId, nowMs, rowsFrom: null };
    const collector = new QueryCollector(rules, receipt, this.#index);
    for (const record of records) collector.add(record);
    const { queries } = returned(collector.result());
    await recordTelemetry({ store: this.#store, clock: { now: () => nowMs } }, 'key', this.#projectId, {
      queries,
      id: rules.id,
      nowMs,
    });
  }
}

export async function deliver(nodes: readonly Node[], { groups }: Arrival): Promise<void> {
  for (const group of groups)
    await Promise.all(group.map(({ records, node }) => nodes[node % nodes.length]?.receive(records)));
}

export async function deliverSplit(
  handles: readonly Store[],
  project: string,
  { steps, isAtOnce }: SplitArrival,
): Promise<void> {
  const start = (store: Store) => new Node(store, project);
  const nodes = handles.map(start);
  const received: Promise<void>[] = [];
  for (const { record, node, starts } of steps) {
    if (starts) nodes.splice(node, 1, ...handles.slice(node, node + 1).map(start));
    received.push(...nodes.slice(node, node + 1).map((one) => one.receive([record])));
    if (!isAtOnce) await Promise.all(received);
  }
  await Promise.all(received);
}

/** The ids that apply to a record that asks: its own, or one on a record above it. */
function isNamed(request: AskedRequest): boolean {
  return request.message !== undefined && rolesOf(request).some((role) => request.idOn.includes(role));
}

/** How many queries the requests are: one for each message, and one for each request without one. */
export function countQueries(requests: readonly AskedRequest[]): number {
  const named = requests.filter(isNamed);
  return new Set(named.map(({ message }) => message)).size + requests.length - named.length;
}

/** The most that may be counted of them: sub-agents and requests may be heard of before what makes them one. */
export function countAtMost(requests: readonly AskedRequest[]): number {
  const apart = requests.filter(
    ({ hasSubAgent, subAgentService }) => hasSubAgent && subAgentService !== undefined,
  );
  return requests.length + apart.length + requests.filter(isNamed).length;
}

/** One span of a query in each trace, of the service that the requests are sent to. */
export function firstOfTraces(requests: readonly AskedRequest[]): TelemetryRecord[] {
  const agents = toParts(requests).filter(({ role }) => role === 'agent');
  return [...new Map(agents.map(({ record }) => [record.traceId, record])).values()];
}

const request = {
  trace: fc.nat({ max: 2 }),
  subAgentService: fc.constantFrom(undefined, 'docs', 'search'),
  hasSubAgent: fc.boolean(),
  hasRoute: fc.boolean(),
  hasLog: fc.boolean(),
  hasRoot: fc.boolean(),
  hasAnswer: fc.constant(false),
};
const noMessage = { message: fc.constant(undefined), idOn: fc.constant([]) };
const message = fc.nat({ max: 2 });
const unnamed = fc.record({ ...request, ...noMessage });
/** All records that ask have the id. */
const named = fc.record({
  ...request,
  message,
  idOn: fc.subarray(['server', 'route'] as const).map((more) => [...ASKING, ...more]),
});
const partlyNamed = fc.record({ ...request, message, idOn: fc.subarray([...ROLES], { minLength: 1 }) });

const several = { minLength: 1, maxLength: 5 };
export const namedRequests = fc
  .tuple(fc.array(named, several), fc.boolean())
  .map(([all, hasAnswer]) => all.map((one) => ({ ...one, hasAnswer })));
export const clearRequests = fc.array(fc.oneof(unnamed, named), several);
export const anyRequests = fc.array(fc.oneof(unnamed, named, partlyNamed), several);
/** Without servers of sub-agents. */
export const plainRequests = fc
  .array(unnamed, several)
  .map((all) => all.map((one) => ({ ...one, subAgentService: undefined })));
