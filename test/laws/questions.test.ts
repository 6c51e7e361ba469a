/** Properties of questions in telemetry on every kind of store: spans in any order, any requests, on any node, repeated. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recordQuestions } from '../../src/app/questions.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { QuestionCollector, type TelemetryRecord } from '../../src/domain/queries/telemetry.js';
import { KNOWN_RULES } from '../../src/domain/queries/telemetry-rules.js';
import type { TelemetryRules } from '../../src/domain/queries/telemetry-settings.js';
import { TraceIndex } from '../../src/domain/queries/trace-index.js';
import type { Store } from '../../src/storage/ports/store.js';
import { ASKED, spanId, traceId } from '../support/http/telemetry.js';
import { placeFactories } from '../support/storage/store.js';
import { lawParameters, openTwo } from './events.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
const rules: TelemetryRules = {
  queries: KNOWN_RULES,
  id: 'question',
  callerAttribute: 'caller_stats.caller',
  detection: {},
};

/** A request to a server: spans above and beside those of its question, which a sub-agent may ask on. */
interface AskedRequest {
  readonly trace: number;
  /** The message that it answers, if the application says so. */
  readonly message: number | undefined;
  readonly depth: number;
  readonly hasSubAgent: boolean;
}

/** A span of a request, by its place in the path from the server's span down. */
function toSpan(request: AskedRequest, number: number, place: number): TelemetryRecord {
  const isQuestion = place >= request.depth;
  const message = request.message === undefined ? {} : { 'caller_stats.id': `message ${request.message}` };
  return {
    traceId: traceId(request.trace),
    spanId: spanId(100 * (number + 1) + place),
    // All requests of a trace come from the same page.
    parentSpanId: place === 0 ? spanId(1) : spanId(100 * (number + 1) + place - 1),
    isEntry: place === 0,
    isLog: false,
    timeNs: BigInt(nowMs + place) * 1_000_000n,
    attributes: new Map(isQuestion ? Object.entries({ ...ASKED, ...message }) : []),
    resource: new Map([['service.name', 'docs']]),
  };
}

function toSpans(requests: readonly AskedRequest[]): TelemetryRecord[] {
  return requests.flatMap((request, number) =>
    Array.from({ length: request.depth + (request.hasSubAgent ? 2 : 1) }, (_, place) =>
      toSpan(request, number, place),
    ),
  );
}

/** A process with its own memory. */
class Node {
  readonly #index = new TraceIndex(10_000);
  readonly #store: Store;
  readonly #projectId: string;

  constructor(store: Store, projectId: string) {
    this.#store = store;
    this.#projectId = projectId;
  }

  async receive(spans: readonly TelemetryRecord[]): Promise<void> {
    const receipt = { project: this.#projectId, nowMs, rowsFrom: null };
    const collector = new QuestionCollector(rules, receipt, this.#index);
    for (const span of spans) collector.add(span);
    const { questions } = collector.result();
    await recordQuestions(this.#store, this.#projectId, { questions, id: rules.id, nowMs });
  }
}

const request = fc.record({
  trace: fc.nat({ max: 2 }),
  message: fc.constant(undefined),
  depth: fc.integer({ min: 1, max: 3 }),
  hasSubAgent: fc.boolean(),
});
const requests = fc.array(request, { minLength: 1, maxLength: 5 });
const namedRequests = fc.array(
  request.chain((one) => fc.record({ ...toConstants(one), message: fc.nat({ max: 2 }) })),
  { minLength: 1, maxLength: 5 },
);

function toConstants({ trace, depth, hasSubAgent }: AskedRequest) {
  return { trace: fc.constant(trace), depth: fc.constant(depth), hasSubAgent: fc.constant(hasSubAgent) };
}

/** Deliveries of the spans of `sent`, some of them twice, in any order, in any batches, to two nodes. */
function deliveriesOf<Sent extends readonly AskedRequest[]>(sent: Sent) {
  const spans = toSpans(sent);
  const twice = [...spans, ...spans];
  const order = fc.shuffledSubarray(
    twice.map((_, at) => at),
    { minLength: spans.length },
  );
  return fc.record({
    sent: fc.constant(sent),
    order: order.map((places) => places.flatMap((at) => twice.slice(at, at + 1))),
    sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
    nodes: fc.infiniteStream(fc.nat({ max: 1 })),
  });
}

function* inBatches<One>(all: readonly One[], sizes: readonly number[]): Generator<One[]> {
  for (let at = 0, batch = 0; at < all.length; batch++) {
    const size = sizes[batch % sizes.length] ?? 1;
    yield all.slice(at, at + size);
    at += size;
  }
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const { numRuns, ...parameters } = lawParameters(kind);
  const some = { ...parameters, numRuns: Math.ceil(numRuns / 4) };

  test('one node counts each request that a server answered, whatever arrives first', async () => {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(requests.chain(deliveriesOf), async ({ sent, order, sizes }) => {
        const project = await newProject();
        const node = new Node(handles[0], project);
        for (const batch of inBatches(order, sizes)) await node.receive(batch);
        await node.receive(toSpans(sent));
        expect(await handles[1].count(project, ALL_TIME)).toMatchObject({ total: sent.length });
      }),
      some,
    );
  });

  test('several nodes never count more, and all once one of them has seen all spans', async () => {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(requests.chain(deliveriesOf), async ({ sent, order, sizes, nodes }) => {
        const project = await newProject();
        const places = handles.map((store) => new Node(store, project));
        for (const batch of inBatches(order, sizes)) await places[nodes.next().value ?? 0]?.receive(batch);
        const { total } = await handles[1].count(project, ALL_TIME);
        expect(total).toBeLessThanOrEqual(sent.length);
        const heardOf = order.filter(({ attributes }) => attributes.size > 0);
        expect(total).toBeGreaterThanOrEqual(new Set(heardOf.map((span) => span.traceId)).size);
        // A node that has just started, and then the first one again.
        await new Node(handles[1], project).receive(toSpans(sent));
        await places[0]?.receive(toSpans(sent).toReversed());
        expect(await handles[0].count(project, ALL_TIME)).toMatchObject({ total: sent.length });
      }),
      some,
    );
  });

  test('questions with an id count once for each id, on any nodes', async () => {
    const { handles, newProject } = await openTwo(factory);
    await fc.assert(
      fc.asyncProperty(namedRequests.chain(deliveriesOf), async ({ sent, order, sizes, nodes }) => {
        const project = await newProject();
        const places = handles.map((store) => new Node(store, project));
        for (const batch of inBatches(order, sizes)) await places[nodes.next().value ?? 0]?.receive(batch);
        await places[1]?.receive(toSpans(sent));
        const messages = new Set(sent.map(({ message }) => message));
        expect(await handles[0].count(project, ALL_TIME)).toMatchObject({ total: messages.size });
      }),
      some,
    );
  });
});
