/** Traces as instrumentations write them, and the queries that a person would count in them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QueryCollector } from '../../../src/domain/queries/telemetry.js';
import type { TelemetryRecord } from '../../../src/domain/queries/telemetry-record.js';
import { KNOWN_RULES } from '../../../src/domain/queries/telemetry-rules.js';
import type { TelemetryRules } from '../../../src/domain/queries/telemetry-settings.js';
import { TraceIndex } from '../../../src/domain/queries/trace-index.js';
import { spanId, traceId } from '../../support/http/telemetry.js';
import { returned } from '../../support/http/telemetry-reading.js';
import { IdentityMemory } from '../../support/identity-memory.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
const rules: TelemetryRules = {
  queries: KNOWN_RULES,
  id: 'question',
  callerAttribute: 'caller_stats.caller',
  detection: {},
};

interface Told {
  readonly trace?: number;
  /** The number of the span below which it is; 0 for the first one of a trace. */
  readonly below?: number;
  /** Whether a server or a consumer began with it, or its parent is in another process. */
  readonly isEntry?: boolean;
  readonly isConsumer?: boolean;
  readonly name?: string;
  readonly service?: string;
  readonly resource?: Readonly<Record<string, string>>;
  readonly atMs?: number;
  readonly endMs?: number;
}

type Attributes = Readonly<Record<string, string>>;

/** The number of a span is also that of its place in time. */
function span(number: number, attributes: Attributes, told: Told = {}): TelemetryRecord {
  const { trace = 1, below = 0, service = 'docs', resource = {}, atMs = number, endMs } = told;
  const { isConsumer = false, isEntry = isConsumer, name = '' } = told;
  return {
    traceId: traceId(trace),
    spanId: spanId(number),
    parentSpanId: below === 0 ? '' : spanId(below),
    isEntry,
    name,
    isConsumer,
    isLog: false,
    timeNs: BigInt(nowMs + atMs) * 1_000_000n,
    endNs: endMs === undefined ? undefined : BigInt(nowMs + endMs) * 1_000_000n,
    attributes: new Map(Object.entries(attributes)),
    resource: new Map(Object.entries({ 'service.name': service, ...resource })),
  };
}

const get = { 'http.method': 'GET' };
const post = { 'http.request.method': 'POST' };
const chat = { 'gen_ai.operation.name': 'chat' };
const agent = { 'gen_ai.operation.name': 'invoke_agent' };
const plain = {};
const ignored = { 'caller_stats.ignore': 'true' };

/** The callers of the queries that count when these requests have arrived. */
function callersOf(
  requests: readonly (readonly TelemetryRecord[])[],
  more: Partial<TelemetryRules> = {},
  indexBytes = 1_000_000,
) {
  const memory = new IdentityMemory();
  const index = new TraceIndex(indexBytes);
  const own = Object.keys(more).length === 0 ? rules : { ...rules, ...more };
  for (const records of requests) {
    const receipt = { project: 'docs', nowMs, rowsFrom: null };
    const collector = new QueryCollector(own, receipt, index);
    for (const record of records) collector.add(record);
    const { queries } = returned(collector.result());
    memory.record(queries);
    for (const { noteRecorded } of queries) noteRecorded();
  }
  return memory.callers();
}

const inAnyOrder = (records: readonly TelemetryRecord[]) =>
  fc.shuffledSubarray([...records], { minLength: records.length });

const inAnyRequests = (records: readonly TelemetryRecord[]) =>
  fc
    .record({ sent: inAnyOrder(records), size: fc.integer({ min: 1, max: records.length }) })
    .map(({ sent, size }) => {
      const count = Math.ceil(sent.length / size);
      return Array.from({ length: count }, (_, at) => sent.slice(at * size, (at + 1) * size));
    });

type Shape = readonly [what: string, records: readonly TelemetryRecord[], queries: number];

describe('what the application or an evaluation says to ignore', () => {
  test.each<Shape>([
    ['a span', [span(1, { ...chat, ...ignored })], 0],
    ['a span above', [span(1, chat, { below: 2 }), span(2, plain, { below: 3 }), span(3, ignored)], 0],
    ['a resource', [span(1, chat, { resource: ignored })], 0],
    ['metadata of a call', [span(1, { ...chat, 'ai.telemetry.metadata.caller_stats.ignore': 'true' })], 0],
    [
      'a title beside an answer',
      [span(1, chat, { below: 3 }), span(2, { ...chat, ...ignored }, { below: 3 }), span(3, plain)],
      1,
    ],
    ['no other value', [span(1, { ...chat, 'caller_stats.ignore': 'false' })], 1],
    [
      "Mastra's scorer",
      [
        span(1, agent),
        span(2, agent, { trace: 2, below: 3 }),
        span(3, { 'mastra.span.type': 'scorer_run' }, { trace: 2 }),
      ],
      1,
    ],
    [
      'an experiment of Pydantic Evals',
      [span(1, chat, { below: 2 }), span(2, { 'gen_ai.operation.name': 'experiment' })],
      0,
    ],
    [
      'an evaluator of OpenInference',
      [
        span(1, { 'openinference.span.kind': 'LLM' }, { below: 2 }),
        span(2, { 'openinference.span.kind': 'EVALUATOR' }),
      ],
      0,
    ],
    [
      "Langfuse's experiments",
      [
        span(1, { ...chat, 'langfuse.experiment.id': 'e' }),
        span(2, { ...chat, 'langfuse.environment': 'sdk-experiment' }, { trace: 2 }),
      ],
      0,
    ],
    ...["{'type': 'x'}", '{"type": "score"}', '{"name":"a","type":"eval"}'].map(
      (text, at): Shape => [
        `spans of Braintrust with ${text}`,
        [span(1, chat, { below: 2 }), span(2, { 'braintrust.span_attributes': text })],
        at === 0 ? 1 : 0,
      ],
    ),
    [
      'an experiment of Braintrust',
      [
        span(1, { ...chat, 'braintrust.parent': 'experiment_id:1' }),
        span(2, { ...chat, 'braintrust.parent': 'project_name:docs' }, { trace: 2 }),
      ],
      1,
    ],
    [
      "LangSmith's experiment, and what judges it",
      ['example_version', 'reference_run_id'].flatMap((name, at) => [
        span(10 * at + 1, chat, { trace: at + 1, below: 10 * at + 2 }),
        span(10 * at + 2, { [`langsmith.metadata.${name}`]: 'x' }, { trace: at + 1 }),
      ]),
      0,
    ],
    ...['promptfoo.eval.id', 'faas.trigger'].map(
      (name): Shape => [
        `what ${name} marks`,
        [span(1, chat, { below: 2 }), span(2, { [name]: 'timer' }, { isEntry: true })],
        0,
      ],
    ),
    ...['ragas evaluation', 'evaluate faithfulness', 'Evaluation.run', 'eval', 'evals:nightly'].map(
      (name): Shape => [
        `a span with the name ${name}`,
        [span(1, chat, { below: 2 }), span(2, plain, { name, below: 9 }), span(3, chat, { trace: 2 })],
        1,
      ],
    ),
    ...['cron nightly', 'warm-up', 'Warmup', 'scorer: tone', 'llm-as-a-judge', 'judge_evaluation'].map(
      (name): Shape => [
        `a first span with the name ${name}`,
        [span(1, chat, { below: 2 }), span(2, plain, { name })],
        0,
      ],
    ),
    ...['evaluations of customers', 'cronut recipes', 'POST /evaluate'].map(
      (name): Shape => [
        `nothing of the request ${name}`,
        [span(1, chat, { below: 2 }), span(2, plain, { name, isEntry: true })],
        1,
      ],
    ),
    ...['vercel-cron/1.0', 'Google-Cloud-Scheduler', 'kube-probe/1.31'].map(
      (agent): Shape => [
        `a request by ${agent}`,
        [span(1, chat, { below: 2 }), span(2, { ...get, 'user_agent.original': agent }, { isEntry: true })],
        0,
      ],
    ),
    ...[
      ...[
        'title',
        'generate_title',
        'generateChatTitle',
        'chat-title',
        'docs.create_title.task',
        'title agent',
      ],
      ...['invoke_agent title-writer', "agent run: 'title'", 'suggestions', 'suggested_questions'],
      ...['generate follow-ups', 'relatedQuestions', 'write suggested prompts'],
    ].map(
      (name): Shape => [
        `the span ${name} beside the answer`,
        [
          span(1, chat, { below: 2 }),
          span(2, plain, { name, below: 3 }),
          span(3, plain, { name: 'after' }),
          span(4, agent, { trace: 2, name: 'invoke_agent docs' }),
        ],
        1,
      ],
    ),
    ...['ai.telemetry.functionId', 'gen_ai.agent.name'].map(
      (name): Shape => [
        `a call that ${name} names as that of a title`,
        [span(1, { ...chat, [name]: 'generate-title' }), span(2, { ...chat, [name]: 'docs' }, { trace: 2 })],
        1,
      ],
    ),
    ...[
      ...['title search', 'invoke_agent book-titles-expert', 'entitled', 'follow-up question', 'POST title'],
      ...['suggest a plugin', 'untitled', 'titles and answers'],
    ].map(
      (name): Shape => [
        `nothing of the span ${name}`,
        [span(1, chat, { below: 2 }), span(2, plain, { name })],
        1,
      ],
    ),
    [
      'nothing of a request for a title, which may be the question',
      [span(1, chat, { below: 2 }), span(2, post, { isEntry: true, name: 'title' })],
      1,
    ],
    [
      'no span within a trace with the name of a job',
      [span(1, chat, { below: 2 }), span(2, plain, { name: 'cron', below: 3 }), span(3, plain)],
      1,
    ],
  ])('%s', (_what, records, queries) => {
    fc.assert(
      fc.property(inAnyRequests(records), (requests) => {
        expect(callersOf(requests)).toHaveLength(queries);
      }),
    );
  });

  test.each(['trace', 'span'] as const)('also where the %s tells queries apart', (id) => {
    expect(callersOf([[span(1, { ...chat, ...ignored })]], { id })).toEqual([]);
  });
});

describe('in any order and any requests', () => {
  const answered = (number: number) => ({ ...chat, 'gen_ai.response.id': `chatcmpl-00000000000${number}` });

  test.each<Shape>([
    ['two instrumentations of one call', [span(1, answered(1)), span(2, answered(1), { trace: 2 })], 1],
    [
      'two instrumentations on both sides of a limit of time',
      [span(1, answered(1), { atMs: 29_000 }), span(2, answered(1), { trace: 2, atMs: 31_000 })],
      1,
    ],
    [
      'a gateway without the trace of its request',
      [
        span(1, answered(1), { below: 2 }),
        span(2, plain, { below: 9, isEntry: true }),
        span(3, answered(1), { trace: 2, below: 4, service: 'gateway' }),
        span(4, plain, { trace: 2, below: 8, isEntry: true, service: 'gateway' }),
      ],
      1,
    ],
    [
      'two requests of one trace, each with an answer',
      [
        span(1, answered(1), { below: 2 }),
        span(2, plain, { below: 9, isEntry: true }),
        span(3, answered(2), { below: 4 }),
        span(4, plain, { below: 9, isEntry: true }),
      ],
      2,
    ],
    [
      'model calls below a span of another process',
      [1, 2, 3].map((number) =>
        span(number, { 'ai.operationId': 'ai.generateText' }, { below: 9, isEntry: true }),
      ),
      1,
    ],
    [
      "agents of one run that an SDK writes as a server's spans",
      [
        span(1, agent, { below: 3, isEntry: true }),
        span(2, agent, { below: 3, isEntry: true }),
        span(3, plain),
      ],
      1,
    ],
    [
      'requests to servers that say that they are calls',
      [1, 2].map((number) => span(number, { ...chat, 'http.method': 'POST' }, { below: 9, isEntry: true })),
      2,
    ],
    ['an answer from a cache', [span(1, answered(1)), span(2, answered(1), { trace: 2, atMs: 90_000 })], 2],
    [
      'answers that a model numbers',
      [
        span(1, { ...chat, 'gen_ai.response.id': 'chatcmpl-1' }),
        span(2, { ...chat, 'gen_ai.response.id': 'chatcmpl-1' }, { trace: 2 }),
      ],
      2,
    ],
    [
      'two messages with one answer',
      [
        span(1, { ...answered(1), 'caller_stats.id': 'a' }),
        span(2, { ...answered(1), 'caller_stats.id': 'b' }, { trace: 2 }),
      ],
      2,
    ],
  ])('%s', (_what, records, queries) => {
    fc.assert(
      fc.property(inAnyRequests(records), (requests) => {
        expect(callersOf(requests)).toHaveLength(queries);
      }),
    );
  });
});

describe('SDKs that name their calls in their own way', () => {
  const ofAdk = { 'gen_ai.system': 'gcp.vertex.agent' };
  test.each<Shape>([
    ...[
      'chat.completions',
      'chat.streaming_completions',
      'text.streaming_completions',
      'text_completions',
    ].map((name): Shape => [`Semantic Kernel, ${name}`, [span(1, { 'gen_ai.operation.name': name })], 1]),
    [
      'LangChain4j in Quarkus, and Bedrock in JavaScript, besides its embeddings',
      [
        span(1, { 'gen_ai.response.finish_reasons': 'STOP' }),
        span(2, { 'gen_ai.system': 'aws.bedrock' }, { trace: 2 }),
      ],
      1,
    ],
    [
      "Alibaba's conventions",
      ['LLM', 'EMBEDDING', 'RETRIEVER'].map((kind, at) =>
        span(at + 1, { 'gen_ai.span.kind': kind }, { trace: at + 1 }),
      ),
      1,
    ],
    [
      'MLflow',
      ['"CHAT_MODEL"', '"EMBEDDING"', 'AGENT', '"CHAIN"'].map((type, at) =>
        span(at + 1, { 'mlflow.spanType': type }, { trace: at + 1 }),
      ),
      2,
    ],
    [
      'Logfire',
      ['Chat Completion', 'Embedding Creation', 'Message'].map((what, at) =>
        span(at + 1, plain, { name: `${what} with {request_data[model]!r}`, trace: at + 1 }),
      ),
      2,
    ],
    [
      'dd-trace',
      [span(1, { 'gen_ai.operation.name': 'llm' }, { below: 2 }), span(2, post, { isEntry: true })],
      1,
    ],
    [
      'a run of a thread of Azure AI Agents, among other spans of its thread',
      ['create_thread', 'create_message', 'start_thread_run', 'get_thread_run', 'list_messages'].map(
        (operation, at) => span(at + 1, { 'gen_ai.operation.name': operation }, { trace: at + 1 }),
      ),
      1,
    ],
    ["Google's ADK", [span(1, ofAdk, { below: 3 }), span(2, ofAdk, { below: 3 }), span(3, plain)], 1],
    [
      "Haystack's agent",
      [
        span(1, { 'haystack.component.type': 'OpenAIChatGenerator' }, { below: 2 }),
        span(2, { 'haystack.agent.max_steps': '100' }),
        span(3, { 'haystack.component.type': 'InMemoryBM25Retriever' }, { trace: 2 }),
      ],
      1,
    ],
  ])('%s', (_what, records, queries) => {
    fc.assert(
      fc.property(inAnyRequests(records), (requests) => {
        expect(callersOf(requests)).toHaveLength(queries);
      }),
    );
  });
});

describe('what another process, or one that ended, has found', () => {
  const request = { ...post, 'caller_stats.caller': 'web' };
  test.each<readonly [what: string, requests: readonly TelemetryRecord[], callers: readonly string[]]>([
    ['gets the caller of its request', [span(2, request, { isEntry: true })], ['web']],
    [
      'does not get that of a page',
      [span(2, { 'caller_stats.caller': 'web', ...get }, { isEntry: true })],
      ['unknown'],
    ],
    [
      'does not get that of another service',
      [span(2, request, { isEntry: true, service: 'b' })],
      ['unknown'],
    ],
    ['does not get that of a request within', [span(2, request, { below: 9, isEntry: true })], ['unknown']],
    ['does not get what is ignored', [span(2, { ...request, ...ignored }, { isEntry: true })], ['unknown']],
    ['of another trace stays', [span(2, request, { isEntry: true, trace: 2 })], ['unknown']],
    [
      'is that of a message that was sent before',
      [
        span(2, { ...request, 'caller_stats.id': 'a' }, { isEntry: true }),
        span(3, chat, { trace: 2, below: 4 }),
        span(4, { ...request, 'caller_stats.id': 'a' }, { isEntry: true, trace: 2 }),
      ],
      ['web'],
    ],
  ])('%s', (_what, records, callers) => {
    expect(callersOf([[span(1, chat, { below: 7 })], ...records.map((one) => [one])], {}, 0)).toEqual(
      callers,
    );
  });
});

describe('callers and ids that arrive late', () => {
  const from = (caller: string) => ({ 'caller_stats.caller': caller });
  const slack = { 'user_agent.original': 'Slackbot 1.0' };
  const key = { 'http.request.header.authorization': 'Bearer x' };
  const sdk = { ...key, 'http.request.header.x-stainless-lang': 'python' };
  const answer = { ...chat, 'gen_ai.response.id': 'chatcmpl-000000000001' };
  const id = { 'caller_stats.id': 'a' };

  test.each<readonly [what: string, records: readonly TelemetryRecord[], callers: readonly string[]]>([
    [
      'the server span names the caller',
      [span(1, chat, { below: 2 }), span(2, agent, { below: 3 }), span(3, from('web'), { isEntry: true })],
      ['web'],
    ],
    [
      'each of two requests names its own',
      [1, 2].flatMap((at) => [
        span(10 * at, chat, { below: 10 * at + 1 }),
        span(10 * at + 1, { ...post, ...from(`sdk-${at}`) }, { below: 9, isEntry: true }),
      ]),
      ['sdk-1', 'sdk-2'],
    ],
    ['nobody names it', [span(1, chat, { below: 2 }), span(2, plain, { isEntry: true })], ['unknown']],
    [
      'a message is sent again, and its id is on the server spans',
      [1, 2].flatMap((trace) => [
        span(1, chat, { trace, below: 2 }),
        span(2, chat, { trace, below: 3 }),
        span(3, { ...post, ...id, ...(trace === 1 && from('web')) }, { trace, below: 9, isEntry: true }),
      ]),
      ['web'],
    ],
    [
      'the request that asked two others arrives last',
      [
        span(1, chat, { below: 2 }),
        span(2, post, { below: 5, isEntry: true }),
        span(3, chat, { below: 4 }),
        span(4, post, { below: 5, isEntry: true }),
        span(5, { ...post, ...from('web') }, { below: 9, isEntry: true }),
      ],
      ['web'],
    ],
    [
      'a service sends its key to an agent',
      [
        span(1, chat, { below: 2 }),
        span(2, { ...post, ...key }, { below: 3, isEntry: true, service: 'agent' }),
        span(3, { ...post, ...slack }, { isEntry: true }),
      ],
      ['slack'],
    ],
    [
      'a gateway without the trace of the request gets a key, and the name of the SDK',
      [
        span(1, answer, { below: 2 }),
        span(2, { ...post, ...slack }, { isEntry: true }),
        ...[3, 5].flatMap((at) => [
          span(at, answer, { trace: at, below: at + 1, service: 'gateway' }),
          span(at + 1, at === 3 ? key : sdk, { trace: at, isEntry: true, service: 'gateway' }),
        ]),
      ],
      ['slack'],
    ],
    [
      'only keys and SDKs tell it',
      [
        span(1, chat, { below: 2 }),
        span(2, { ...post, ...key }, { below: 3, isEntry: true }),
        span(3, { ...post, ...sdk }, { below: 4, isEntry: true }),
        span(4, { ...post, ...key }, { isEntry: true }),
      ],
      ['sdk-python'],
    ],
  ])('%s', (_what, records, callers) => {
    fc.assert(
      fc.property(inAnyRequests(records), (requests) => {
        expect(callersOf(requests).sort()).toEqual(callers);
      }),
    );
  });
});

const page = span(90, get, { isEntry: true });
const ask = (number: number, below: number) => span(number, post, { below, isEntry: true });
const consumed = (number: number, below: number, service = 'worker'): TelemetryRecord[] => [
  span(number, plain, { below, isConsumer: true, service }),
  span(number + 1, chat, { below: number, service }),
];
const step = (number: number, below: number, attributes: Attributes, name = ''): TelemetryRecord[] => [
  span(number, attributes, { below, isEntry: true, name }),
  span(number + 1, chat, { below: number }),
];

/** A span that waits until its time for a message over a WebSocket. */
const message = (number: number, below: number, event?: string): TelemetryRecord =>
  span(number, event === undefined ? {} : { 'asgi.event.type': event }, {
    ...{ below, name: '/ws websocket receive' },
    ...{ atMs: number - 9, endMs: number },
  });
/** Two messages that ask, the first of them two models; and one that does not. */
const conversation = (below: number, inner = below): TelemetryRecord[] => [
  message(9, below, 'websocket.connect'),
  message(10, below, 'websocket.receive'),
  span(11, chat, { below: inner }),
  span(12, chat, { below: inner }),
  message(20, below),
  message(30, below),
  span(31, agent, { below: inner }),
  span(32, chat, { below: 31 }),
  message(40, below, 'websocket.disconnect'),
];

/** Of a voice agent, with two calls of models. */
function turn(number: number, name: string, attributes: Attributes): TelemetryRecord[] {
  const calls = [1, 2].map((at) => span(number + at, chat, { below: number }));
  return [...calls, span(number, attributes, { below: 2, name })];
}

/** Counted right in any order, in any requests. */
const STEPS: readonly Shape[] = [
  ['a request, whose jobs are in a queue', [ask(1, 90), ...consumed(2, 1), ...consumed(4, 1)], 1],
  ['jobs whose request does not arrive', [...consumed(2, 80), ...consumed(4, 81)], 1],
  ['a job of a job', [ask(1, 90), ...consumed(2, 1), span(4, plain, { below: 2 }), ...consumed(5, 4)], 1],
  ['jobs of requests of a page', [page, ask(1, 90), ask(2, 90), ...consumed(3, 1), ...consumed(5, 2)], 2],
  ['messages over a connection', [span(1, get, { isEntry: true }), ...conversation(1)], 2],
  ['messages over a connection that goes on', conversation(80), 2],
  [
    'sub-agents of a message with a server of their own',
    [...conversation(1), ...consumed(50, 31), span(1, get, { isEntry: true })],
    2,
  ],
  [
    'requests to servers of sub-agents, of one message',
    [
      ...[message(10, 1), span(1, get, { isEntry: true })],
      ...[11, 13].flatMap((at) => [ask(at, 1), span(at + 1, chat, { below: at })]),
    ],
    1,
  ],
  [
    "turns of Pipecat's conversation",
    [
      ...[span(1, post, { isEntry: true }), span(2, { 'conversation.id': 'c' }, { below: 1 })],
      ...turn(10, 'turn', { 'turn.number': '1' }),
      ...turn(20, 'turn', { 'turn.number': '2' }),
    ],
    2,
  ],
  [
    "turns of LiveKit's session, of which two answer one message with a tool",
    ['speech_1', 'speech_1', 'speech_2'].flatMap((id, at) =>
      turn(10 * at + 10, 'agent_turn', { 'lk.speech_id': id }),
    ),
    2,
  ],
  ['several questions of one batch', [span(1, plain), ...consumed(2, 1), ...consumed(4, 1)], 2],
  [
    'several requests of a page',
    [1, 2, 3].flatMap((at) => [span(at, chat, { below: 10 * at }), ask(10 * at, 90)]),
    3,
  ],
  [
    'requests of a server-rendered page to its own service',
    [page, ...[1, 2, 3].flatMap((at) => [span(at, chat, { below: 10 * at }), ask(10 * at, 90)])],
    3,
  ],
  [
    'requests to a gateway, of the request of another service',
    [
      span(1, post, { isEntry: true }),
      ...[2, 4].flatMap((at) => [
        span(at, chat, { below: at + 1, service: 'gateway' }),
        span(at + 1, post, {
          ...{ below: 1, isEntry: true, service: 'gateway' },
          name: 'POST /v1/chat/completions',
        }),
      ]),
    ],
    1,
  ],
  [
    'activities of a workflow by the names of their spans',
    [
      ask(1, 90),
      span(2, plain, { below: 1, isEntry: true, name: 'RunWorkflow:Answer' }),
      ...step(3, 2, plain, 'RunActivity:rewrite'),
      ...step(5, 2, plain, 'RunActivity:answer'),
    ],
    1,
  ],
  ...[
    ...['/api/inngest', '/.well-known/workflow/v1/step', '/openai/responses', '/model/{id}/converse-stream'],
    ...['/v1/models/{model}:generateContent', '/v1/models/gemini:streamGenerateContent'],
  ].map(
    (route): Shape => [
      `steps by ${route}, whose request does not arrive`,
      [...step(2, 80, { ...post, 'http.route': route }), ...step(4, 81, { ...post, 'http.route': route })],
      1,
    ],
  ),
  ...[
    'temporalWorkflowID',
    'workflow.run.id',
    'sdk.run.id',
    'durabletask.task.instance_id',
    'bullmq.job.id',
    'messaging.message.id',
  ].map((attribute): Shape => {
    const run = (id: string) => ({ [attribute]: id });
    const steps = [...step(2, 1, run('a')), ...step(4, 1, run('a')), ...step(6, 1, run('b'))];
    return [`steps of two runs, one of them repeated, by ${attribute}`, [span(1, plain), ...steps], 2];
  }),
];

describe('the steps of a request, in any order and any requests', () => {
  test.each(STEPS)('%s', (_what, records, queries) => {
    fc.assert(
      fc.property(inAnyRequests(records), (requests) => {
        expect(callersOf(requests)).toHaveLength(queries);
        expect(callersOf([...requests, ...requests.toReversed()])).toHaveLength(queries);
      }),
    );
  });

  // Until a request above them arrives, these may be those of a page.
  test.each<Shape>([
    [
      'messages over a connection of a page, within its handler',
      [page, span(1, get, { below: 90, isEntry: true }), span(2, plain, { below: 1 }), ...conversation(1, 2)],
      2,
    ],
    [
      'a request to another route of its own service',
      [ask(1, 90), span(2, chat, { below: 1 }), ...step(3, 1, post)],
      1,
    ],
    ['requests to servers of steps', [ask(1, 90), ...step(2, 1, post), ...step(4, 1, post)], 1],
    [
      'the same without attributes',
      [
        span(1, plain, { below: 90, isEntry: true, name: 'POST /ask' }),
        ...step(2, 1, plain, 'POST'),
        ...step(4, 1, plain, 'PUT /x'),
      ],
      1,
    ],
    [
      'requests by gRPC',
      [
        span(1, { 'rpc.system': 'grpc' }, { below: 90, isEntry: true }),
        ...step(2, 1, { 'rpc.system.name': 'grpc' }),
        ...step(4, 1, plain),
      ],
      1,
    ],
    [
      'entries below one of their service that asks itself',
      [...step(1, 90, plain), ...step(3, 1, plain), ...step(5, 1, plain)],
      1,
    ],
    [
      'entries below one that does not ask itself',
      [span(1, plain, { below: 90, isEntry: true }), ...step(3, 1, plain), ...step(5, 1, plain)],
      2,
    ],
    [
      'entries below one of another service that asks itself',
      [
        ...step(1, 90, plain),
        ...[3, 5].flatMap((at) => [
          span(at, plain, { below: 1, isEntry: true, service: 'other' }),
          span(at + 1, chat, { below: at, service: 'other' }),
        ]),
      ],
      1,
    ],
  ])('all at once, or what is above first: %s', (_what, records, queries) => {
    fc.assert(
      fc.property(inAnyOrder(records), (sent) => {
        expect(callersOf([sent])).toHaveLength(queries);
      }),
    );
    expect(callersOf(records.map((one) => [one]))).toHaveLength(queries);
  });
});

const runs = ['c9aa2d04c92e4b07aac030dec8af00ff', 'd9aa2d04c92e4b07aac030dec8af00ff'] as const;

describe.each([
  ['Semantic Kernel', (id: string) => [plain, `agent_runtime process a_b_${id}.(default)-A`] as const],
  ['Inngest', (id: string) => [{ 'sdk.run.id': id }, 'inngest.execution'] as const],
  ['Vercel Workflow', (id: string) => [{ 'workflow.run.id': `wrun_${id}` }, 'STEP answer'] as const],
  ['a message that is delivered again', (id: string) => [{ 'messaging.message.id': id }, 'process'] as const],
])('steps of %s, each in a trace of its own', (_, write) => {
  const stepOf = (number: number, id: string) => {
    const [attributes, name] = write(id);
    return [
      span(number, attributes, { trace: number, name }),
      span(number + 1, agent, { trace: number, below: number }),
    ];
  };
  test.each([
    ['of one run', runs[0], 1],
    ['of two runs', runs[1], 2],
    // As of a test, or of a sender that numbers its runs.
    ['whose id is short', '1', 2],
  ])('%s', (_what, second, queries) => {
    const records = [...stepOf(1, second === '1' ? second : runs[0]), ...stepOf(3, second)];
    expect(callersOf([records])).toHaveLength(queries);
    expect(callersOf([records.toReversed()])).toHaveLength(queries);
    expect(callersOf([records.slice(0, 2), records.slice(2)])).toHaveLength(queries);
  });
});

test("Traceloop's association properties name the caller of what LlamaIndex answers, and its id", () => {
  const properties = {
    'traceloop.association.properties.messageId': 'm1',
    'traceloop.association.properties.caller_stats.caller': 'slack',
  };
  const answered = (trace: number) =>
    ['retriever_query_engine.query', 'q.workflow'].map((name, at) =>
      span(10 * trace + at, properties, {
        ...{ trace, name, below: at === 0 ? 10 * trace + 1 : 0 },
        resource: { 'caller_stats.caller': 'web' },
      }),
    );
  expect(callersOf([answered(1), answered(2).toReversed()])).toEqual(['slack']);
});

test("Langfuse's metadata are read as the text that their JSON means", () => {
  const metadata = (id: string, caller: string) => ({
    ...chat,
    'langfuse.trace.metadata.messageId': id,
    'langfuse.trace.metadata.caller_stats.caller': caller,
  });
  const [quoted, plainText, unfinished] = ['"m"', 'm', '"m'];
  const records = [
    span(1, metadata(quoted, '"web"')),
    span(2, metadata(plainText, 'web'), { trace: 2 }),
    span(3, metadata(unfinished, 'slack'), { trace: 3 }),
  ];
  expect(callersOf([records])).toEqual(['web', 'slack']);
});

describe.each(['http.route', 'url.path'])('a rule of %s', (attribute) => {
  const count = (requests: readonly Attributes[], told: Told = {}) => {
    const records = requests.map((one, at) => span(at + 1, one, { trace: at + 1, ...told }));
    return callersOf([records], { queries: [{ attribute, values: ['/ask'] }] }).length;
  };

  test('accepts requests that ask and were not refused', () => {
    const requests = [
      { 'http.request.method': 'OPTIONS', 'http.response.status_code': '204' },
      { 'http.method': 'GET', 'http.status_code': '200' },
      { 'http.request.method': 'POST', 'http.response.status_code': '429' },
      { 'http.method': 'POST', 'http.status_code': '400' },
      { 'mcp.method.name': 'tools/list' },
      { 'http.request.method': 'POST', 'http.request.header.mcp-method': 'initialize' },
      { 'http.request.method': 'POST', 'http.response.status_code': '200' },
      { 'http.method': 'PUT' },
      { 'mcp.method.name': 'tools/call' },
      {},
    ];
    expect(count(requests.map((one) => ({ ...one, [attribute]: '/ask' })))).toBe(4);
  });

  test('accepts requests whose server names only the path, under either name', () => {
    const served = { isEntry: true };
    expect(count([{ 'url.path': '/ask' }, { 'http.target': '/ask?stream=1' }], served)).toBe(2);
    expect(count([{ 'url.path': '/ask/1' }, { 'http.target': '/other?/ask' }], served)).toBe(0);
    expect(count([{ 'http.method': 'OPTIONS', 'http.target': '/ask' }], served)).toBe(0);
    // A request to another server.
    expect(count([{ 'http.target': '/ask' }])).toBe(0);
    const both = { 'http.route': '/{page}', 'url.path': '/ask' };
    expect(count([both], served)).toBe(attribute === 'url.path' ? 1 : 0);
  });
});

describe('what tells queries of these', () => {
  const generation = { 'langfuse.observation.type': 'generation' };
  const root = { 'langfuse.observation.type': 'span', 'langfuse.internal.is_app_root': 'true' };
  test.each<Shape>([
    ['Langfuse, of several requests whose spans it drops', [...langfuse(1, 90), ...langfuse(3, 91)], 2],
    ['Langfuse, of a request', [...langfuse(1, 5), ...langfuse(3, 5), span(5, post, { isEntry: true })], 1],
    ['Langfuse, of a page', [...langfuse(1, 5), ...langfuse(3, 5), span(5, get, { isEntry: true })], 2],
    [
      'Langfuse, of two services',
      [
        ...langfuse(1, 90),
        span(3, generation, { below: 4, service: 'b' }),
        span(4, root, { below: 91, service: 'b' }),
      ],
      1,
    ],
    [
      'Langfuse, of embeddings',
      [span(1, { ...generation, 'langfuse.observation.model.name': 'text-embedding-3-small' })],
      0,
    ],
    ['Langfuse, of embeddings by their name', [span(1, generation, { name: 'OpenAI.embeddings' })], 0],
    ['LiteLLM', [span(1, { 'gen_ai.operation.name': 'acompletion' })], 1],
    ["LiteLLM's calls of Gemini", [span(1, { 'gen_ai.operation.name': 'agenerate_content' })], 1],
    ['Claude Code', [span(1, plain, { name: 'claude_code.interaction' })], 1],
    ["LiteLLM's embeddings", [span(1, { 'gen_ai.operation.name': 'aembedding' })], 0],
    [
      'LlamaIndex',
      [
        span(1, plain, { name: 'VectorIndexRetriever.aretrieve', below: 2 }),
        span(2, plain, { name: 'RetrieverQueryEngine.aquery' }),
      ],
      1,
    ],
    [
      'OpenLLMetry of LlamaIndex',
      ['SentenceSplitter', 'MockEmbedding', 'FunctionAgent'].map((name, at) =>
        span(at + 1, { 'traceloop.span.kind': 'workflow' }, { name: `${name}.workflow`, trace: at + 1 }),
      ),
      1,
    ],
  ])('%s', (_what, records, queries) => {
    fc.assert(
      fc.property(inAnyRequests(records), (requests) => {
        expect(callersOf(requests)).toHaveLength(queries);
      }),
    );
  });

  function langfuse(number: number, below: number): TelemetryRecord[] {
    return [span(number, generation, { below: number + 1 }), span(number + 1, root, { below })];
  }
});

test.each([
  ['Cursor/3.1.0', undefined, 'cursor'],
  ['claude-code/2.1.0 (cli)', undefined, 'mcp'],
  ['node', undefined, 'mcp'],
  ['node', ' Visual Studio Code ', 'visual-studio-code'],
  ['node', '…', 'mcp'],
])('a client of an MCP server with the agent %s that calls itself %s', (agent, client, caller) => {
  const call = {
    'mcp.method.name': 'tools/call',
    ...(client !== undefined && { 'mcp.client.name': client }),
  };
  const headers = { 'user_agent.original': agent, 'http.request.header.mcp-protocol-version': '2025-11-25' };
  const queries = [{ attribute: 'mcp.method.name', values: ['tools/call'] }];
  expect(callersOf([[span(1, { ...call, ...headers })]], { queries })).toEqual([caller]);
});
