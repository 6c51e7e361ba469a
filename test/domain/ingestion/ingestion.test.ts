/** Counting what arrives by source: every record is counted once, names and values are bounded. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  listUnmatched,
  readOperations,
  splitOperation,
  suggestRules,
  unsureRoutes,
} from '../../../src/domain/ingestion/operations.js';
import { type Outcome, RecordTally } from '../../../src/domain/ingestion/record-tally.js';
import {
  bucketStart,
  bucketWidthMs,
  COUNT_NAMES,
  type Delivery,
  hasRoomFor,
  IngestionTally,
  NO_COUNTS,
  OTHER_SOURCES,
  SOURCE_KINDS,
  sourceName,
  UNKNOWN_SOURCE,
} from '../../../src/domain/ingestion/source-counts.js';
import {
  operationCharactersMax,
  operationsMax,
  sourceNameCharactersMax,
  sourcesMax,
} from '../../../src/domain/limits.js';
import type { CallerRules } from '../../../src/domain/queries/caller-detection.js';
import { RuleMatcher } from '../../../src/domain/queries/rule-matcher.js';
import { QueryCollector } from '../../../src/domain/queries/telemetry.js';
import type { TelemetryRecord } from '../../../src/domain/queries/telemetry-record.js';
import {
  formatQueryRules,
  KNOWN_RULES,
  type QueryRule,
} from '../../../src/domain/queries/telemetry-rules.js';
import { parseQueryRules } from '../../../src/domain/queries/telemetry-settings.js';
import { TraceIndex } from '../../../src/domain/queries/trace-index.js';
import { spanId, traceId } from '../../support/http/telemetry.js';
import { returned } from '../../support/http/telemetry-reading.js';

const operation = (value: string) => ({ attribute: 'gen_ai.operation.name', value });

function recordOf(attributes: Readonly<Record<string, string>>, more: Partial<TelemetryRecord> = {}) {
  return {
    ...{ traceId: traceId(1), spanId: spanId(1), parentSpanId: '', name: '', timeNs: 0n },
    ...{ isLog: false, isEntry: true, isConsumer: false, resource: new Map(), ...more },
    attributes: new Map(Object.entries(attributes)),
  };
}

/** What is proposed to a source that sent these and recorded nothing. */
function proposals(
  sent: readonly TelemetryRecord[],
  rules: readonly QueryRule[] = KNOWN_RULES,
  isCounting = false,
) {
  const tally = new RecordTally();
  for (const record of sent) {
    tally.add('docs', 'unmatched');
    tally.note('docs', readOperations(record));
  }
  const [{ counts = {}, operations = new Map() } = {}] = tally.deliveries('traces', new Map());
  const unsure = unsureRoutes([{ operations }]);
  return listUnmatched({ counts: { ...NO_COUNTS, ...counts }, operations }, rules, { isCounting, unsure });
}

const request = (route: string, method = 'POST', status = '200') =>
  recordOf({ 'http.route': route, 'http.request.method': method, 'http.response.status_code': status });

describe('an operation', () => {
  test.each([
    ['an attribute with a prompt', { 'gen_ai.prompt': 'What is a span?' }],
    ['an empty value', { 'http.route': '' }],
    ['a long value', { 'http.route': 'x'.repeat(operationCharactersMax + 1) }],
    ['a value with a control character', { 'http.route': '/a\n' }],
    ['a value that no database takes', { 'http.route': '/a\u{0}' }],
    ['half of a surrogate pair', { 'http.route': '\u{d800}' }],
    ['a path with an id', { 'url.path': '/chats/5f3e' }],
    ['a method that is made up', { 'http.route': '/a', 'http.method': 'NOT A METHOD' }],
  ])('is not read from %s', (_what, attributes) => {
    expect(readOperations(recordOf(attributes))).toEqual([]);
  });

  test('is not read from the route of a handler within a request', () => {
    const within = { isEntry: false, parentSpanId: spanId(2) };
    expect(readOperations(recordOf({ 'http.route': '/ask' }, within))).toEqual([]);
  });

  test('is the attribute and its value, and of a request what became of it', () => {
    const attributes = {
      'http.route': '/a=b',
      'http.method': 'POST',
      'gen_ai.operation.name': 'chat',
      other: 'x',
    };
    const asked = ['gen_ai.operation.name=chat', 'http.route=/a=b\tasks'];
    expect(readOperations(recordOf(attributes))).toEqual(asked);
    const target = { 'http.target': '/ask?q=x', 'http.method': 'OPTIONS' };
    expect(readOperations(recordOf(target))).toEqual(['url.path=/ask\tOPTIONS']);
    expect(splitOperation('http.route=/a=b\tasks')).toEqual({
      ...{ attribute: 'http.route', value: '/a=b', outcome: 'asks' },
    });
  });

  test.each([
    ['that matches a rule already', operation('chat')],
    ['that occurs without a question', operation('embeddings')],
    ['with a separator of rules', { attribute: 'event.name', value: 'question,b' }],
    ['with the other separator of rules', { attribute: 'event.name', value: 'question;b' }],
    ['with a joint of conditions', { attribute: 'event.name', value: 'question & a.b=c' }],
  ])('%s needs no rule', (_what, one) => {
    expect(suggestRules(one, KNOWN_RULES)).toBeNull();
  });

  test('has a rule that accepts it, beside those that there are', () => {
    expect(suggestRules({ attribute: 'event.name', value: 'docs.question' }, KNOWN_RULES)).toBe(
      'default;event.name=docs.question',
    );
    expect(suggestRules(operation('chat'), [{ attribute: 'a', values: ['b', 'c'] }])).toBe(
      'a=b,c;gen_ai.operation.name=chat',
    );
  });

  test('of any form has a rule that the setting accepts and that matches it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 90 }), (value) => {
        for (const read of readOperations(recordOf({ 'event.name': `question ${value}` }))) {
          const text = suggestRules(splitOperation(read), KNOWN_RULES);
          if (text === null) continue;
          const parsed = parseQueryRules(text);
          expect(parsed.ok && suggestRules(splitOperation(read), parsed.value)).toBeNull();
          expect(parsed.ok && formatQueryRules(parsed.value)).toBe(text);
        }
      }),
    );
  });
});

describe('what is proposed to a source that records nothing', () => {
  test.each<[what: string, sent: readonly TelemetryRecord[]]>([
    ...[
      ['openinference.span.kind', 'CHAIN'],
      ['openinference.span.kind', 'UNKNOWN'],
      ['traceloop.span.kind', 'unknown'],
      ['traceloop.span.kind', 'workflow'],
      ['genkit:metadata:subtype', 'util'],
      ['genkit:metadata:subtype', 'flow'],
      ['gen_ai.operation.name', 'framework'],
      ['gen_ai.operation.name', 'tool.v2'],
      ['gen_ai.operation.name', 'execute_task'],
      ['gen_ai.operation.name', 'aembedding'],
      ['gen_ai.operation.name', 'something.new'],
      ['langfuse.observation.type', 'span'],
      ['langfuse.observation.type', 'generation'],
      ['next.span_type', 'BaseServer.handleRequest'],
      ['event.name', 'gen_ai.choice'],
    ].map(([attribute = '', value = '']): [string, TelemetryRecord[]] => [
      `${attribute}=${value}`,
      [recordOf({ [attribute]: value })],
    ]),
    ...[
      ...['/v1/chat/completions', '/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'],
      ...[
        '/healthz',
        '/api/health',
        '/readyz',
        '/**',
        '/*',
        '/{proxy+}',
        '/[...slug]',
        '/',
        '/api/auth/login',
      ],
      ...['/api/title', '/api/suggestions', '/api/feedback', '/mcp', '/a,/b', '/ask;/b'],
    ].map((route): [string, TelemetryRecord[]] => [`POST ${route}`, [request(route)]]),
    ['a page', [request('/ask', 'GET')]],
    ['requests before others of another origin', [request('/ask', 'OPTIONS', '204')]],
    ['refused requests', [request('/ask', 'POST', '401'), request('/ask', 'POST', '500')]],
    ['listing tools', [recordOf({ 'http.route': '/tools', 'mcp.method.name': 'tools/list' })]],
  ])('is nothing for %s', (_what, sent) => {
    expect(proposals(sent).filter(({ otlpQuery, effect }) => otlpQuery !== null || effect !== null)).toEqual(
      [],
    );
  });

  test('is nothing where records match already', () => {
    const counts = { ...NO_COUNTS, arrived: 2, recorded: 1, unmatched: 1 };
    const operations = new Map([['http.route=/ask\tasks', 1]]);
    const none = [{ attribute: 'http.route', value: '/ask', count: 1, otlpQuery: null, effect: null }];
    const unsure = new Set<string>();
    expect(listUnmatched({ counts, operations }, KNOWN_RULES, { isCounting: false, unsure })).toEqual(none);
    const silent = { ...NO_COUNTS, arrived: 1, unmatched: 1 };
    expect(listUnmatched({ counts: silent, operations }, KNOWN_RULES, { isCounting: true, unsure })).toEqual(
      none,
    );
  });

  test.each<[what: string, sent: TelemetryRecord]>([
    [
      'the request of a client',
      recordOf({ 'http.target': '/ask', 'http.method': 'POST' }, { isEntry: false }),
    ],
    ['a call of a tool by a client', recordOf({ 'mcp.method.name': 'tools/call' }, { isEntry: false })],
    ['a request that is sent again elsewhere', request('/ask', 'POST', '307')],
    ['a change of a chat', request('/api/chat', 'PATCH')],
    ['what replaces something', request('/chat', 'PUT')],
    [
      'a span without a server, which says neither what was asked nor what was answered',
      recordOf({ 'http.route': '/ask' }, { isEntry: false }),
    ],
    [
      'a request by a client that names the route',
      recordOf({ 'http.route': '/ask', 'http.request.method': 'POST' }, { isEntry: false }),
    ],
    ['a span of a server without a method', recordOf({ 'http.route': '/ask' })],
    ['a log record without a method', recordOf({ 'http.route': '/ask' }, { isEntry: false, isLog: true })],
  ])('is nothing for %s', (_what, sent) => {
    expect(proposals([sent]).filter(({ otlpQuery }) => otlpQuery !== null)).toEqual([]);
  });

  test('is nothing for a route of which a span that may not be a request arrived, too, also from another source', () => {
    const alone = recordOf({ 'http.route': '/ask' }, { isEntry: false });
    const none = { otlpQuery: null, effect: null };
    expect(proposals([request('/ask'), alone])).toMatchObject([{ value: '/ask', count: 2, ...none }]);
    const counts = { ...NO_COUNTS, arrived: 1, unmatched: 1 };
    const operations = new Map([['http.route=/ask\tasks', 1]]);
    const other = { operations: new Map([['http.route=/ask\tunsure', 1]]) };
    const told = (sources: Parameters<typeof unsureRoutes>[0]) =>
      listUnmatched({ counts, operations }, KNOWN_RULES, {
        isCounting: false,
        unsure: unsureRoutes(sources),
      });
    expect(told([{ operations }, other])).toMatchObject([none]);
    expect(told([{ operations }])).toMatchObject([{ otlpQuery: 'http.route=/ask' }]);
  });

  test('is a rule of POST alone where requests of the route also change something', () => {
    const sent = [request('/api/ask'), request('/api/chat'), request('/api/chat', 'PATCH')];
    expect(proposals(sent)[0]).toMatchObject({
      otlpQuery: 'http.route=/api/ask;http.route=/api/chat & http.request.method=POST',
      effect: 'would have counted 2 of the last 3 requests; 1 was PATCH',
    });
  });

  test('is first a rule of all its routes that ask, with what it would have done', () => {
    const sent = [
      ...Array.from({ length: 38 }, () => request('/ask', 'OPTIONS', '204')),
      ...[request('/ask'), request('/chat'), request('/', 'GET'), request('/ask', 'POST', '429')],
      ...[recordOf({ 'event.name': 'docs.question' }, { isEntry: false, parentSpanId: spanId(2) })],
    ];
    const otlpQuery = 'http.route=/ask,/chat';
    const effect = 'would have counted 2 of the last 41 requests; 38 were OPTIONS, 1 was refused';
    expect(proposals(sent)).toMatchObject([
      { value: '/ask', count: 40, otlpQuery, effect },
      { value: '/chat', count: 1, otlpQuery, effect },
      {
        ...{ value: 'docs.question', otlpQuery: 'default;event.name=docs.question' },
        effect: 'would have accepted 1 of the last 43 records; those of one trace are one question',
      },
      { value: '/', otlpQuery: null, effect: null },
    ]);
  });

  test('keeps the rules of the project', () => {
    const ask = [request('/ask')];
    const own = [{ attribute: 'a', values: ['b'] }];
    expect(proposals(ask, own)[0]?.otlpQuery).toBe('a=b;http.route=/ask');
    expect(proposals(ask, [{ attribute: 'http.route', values: ['/ask'] }])[0]?.otlpQuery).toBeNull();
  });

  test('is the path where there is no route, and calls of tools', () => {
    const path = [recordOf({ 'url.path': '/api/ask', 'http.method': 'POST' })];
    expect(proposals(path)[0]).toMatchObject({
      ...{ otlpQuery: 'url.path=/api/ask', effect: 'would have counted the only request' },
    });
    const call = [recordOf({ 'mcp.method.name': 'tools/call' })];
    expect(proposals(call)[0]?.otlpQuery).toBe('default;mcp.method.name=tools/call');
  });

  test('accepts those that it says it would have counted', () => {
    const anyRequest = fc
      .tuple(
        fc.constantFrom('/ask', '/a & b', '/mcp', '/chat/{id}', '/healthz'),
        fc.constantFrom('POST', 'OPTIONS', 'GET', 'PATCH'),
        fc.constantFrom('200', '204', '302', '308', '404', '500'),
      )
      .map((one) => request(...one));
    fc.assert(
      fc.property(fc.array(anyRequest, { maxLength: 20 }), (sent) => {
        const [first] = proposals(sent);
        const parsed = first?.otlpQuery == null ? null : parseQueryRules(first.otlpQuery);
        if (!parsed?.ok) return;
        const matcher = new RuleMatcher(parsed.value);
        const counted = sent.filter((record) => matcher.accepts(record)).length;
        const [text] = /(the only|\d+)(?= (of the last|request))/.exec(first?.effect ?? '') ?? [];
        expect(text === 'the only' ? 1 : Number(text)).toBe(counted);
      }),
    );
  });
});

test('names of sources are bounded and have no control characters', () => {
  expect(sourceName('é'.repeat(500))).toHaveLength(sourceNameCharactersMax);
  expect(sourceName(' a\u{0}b\n ')).toBe('a b');
  // Only the beginning is read: one resource can name its service with millions of characters, for thousands of spans.
  expect(sourceName(`${' '.repeat(4 * sourceNameCharactersMax)}late`)).toBe(UNKNOWN_SOURCE);
  for (const none of [undefined, '', ' \u{0}']) expect(sourceName(none)).toBe(UNKNOWN_SOURCE);
});

describe('the records of a request', () => {
  const services = ['a', 'b', ''];
  const outcomes: readonly Outcome[] = ['matched', 'rejected', 'unmatched'];
  const anyRecord = fc.record({
    service: fc.constantFrom(...services),
    outcome: fc.constantFrom(...outcomes),
  });

  test('are each counted once, whatever was recorded', () => {
    const anyRecorded = fc.dictionary(fc.constantFrom(...services, 'c'), fc.nat({ max: 20 }));
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 30 }), anyRecorded, (records, recorded) => {
        const tally = new RecordTally();
        for (const { service, outcome } of records) tally.add(sourceName(service), outcome);
        const deliveries = tally.deliveries('traces', new Map(Object.entries(recorded)));
        expect(deliveries).toHaveLength(new Set(records.map(({ service }) => service)).size);
        for (const { name, counts } of deliveries) {
          const own = records.filter(({ service }) => sourceName(service) === name);
          const { arrived, recorded: fresh = 0, duplicates = 0, rejected = 0, unmatched = 0 } = counts;
          expect(arrived).toBe(own.length);
          expect(rejected).toBe(own.filter(({ outcome }) => outcome === 'rejected').length);
          expect(fresh + duplicates + rejected + unmatched).toBe(own.length);
          expect(Math.min(fresh, duplicates, unmatched)).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });

  test('count as duplicates of the one that recorded their query', () => {
    const tally = new RecordTally();
    for (const outcome of ['matched', 'matched', 'unmatched'] as const) tally.add('docs', outcome);
    tally.note('docs', ['event.name=x']);
    const counts = { requests: 1, arrived: 3, recorded: 1, duplicates: 1, rejected: 0, unmatched: 1 };
    const operations = new Map([['event.name=x', 1]]);
    expect(tally.deliveries('logs', new Map([['docs', 1]]))).toEqual([
      { kind: 'logs', name: 'docs', counts, operations },
    ]);
  });
});

describe('what came to a project', () => {
  const anyDelivery: fc.Arbitrary<Delivery> = fc.record({
    kind: fc.constantFrom(...SOURCE_KINDS),
    name: fc.nat({ max: 30 }).map((number) => `source ${number}`),
    counts: fc.dictionary(fc.constantFrom(...COUNT_NAMES), fc.nat({ max: 100 })),
    operations: fc
      .dictionary(fc.string({ maxLength: 3 }), fc.nat())
      .map((one) => new Map(Object.entries(one))),
  });
  const times = fc.integer({ min: 0, max: 3 * bucketWidthMs });

  test('adds up to all deliveries, in buckets of five minutes, of few sources, also if they are added again', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anyDelivery, times), { maxLength: 100 }), (deliveries) => {
        const tally = new IngestionTally();
        const again = new IngestionTally();
        for (const [delivery, timeMs] of deliveries) tally.add(delivery, timeMs);
        const buckets = tally.list();
        again.addBuckets(buckets);
        expect(again.list()).toEqual(buckets);
        for (const name of COUNT_NAMES) {
          const sum = (list: readonly Pick<Delivery, 'counts'>[]) =>
            list.reduce((total, { counts }) => total + (counts[name] ?? 0), 0);
          expect(sum(buckets)).toBe(sum(deliveries.map(([delivery]) => delivery)));
        }
        const named = buckets.filter(({ name }) => name !== OTHER_SOURCES);
        expect(new Set(named.map(({ kind, name }) => `${kind} ${name}`)).size).toBeLessThanOrEqual(
          sourcesMax,
        );
        for (const { bucket, seenAt, operations } of buckets) {
          expect(bucket).toBe(bucketStart(seenAt));
          expect(operations.size).toBeLessThanOrEqual(operationsMax);
        }
      }),
    );
  });

  test('has room for requests that ask, or may, beside many others', () => {
    const full = new Map(Array.from({ length: operationsMax }, (_, at) => [`http.route=/${at}\tGET`, 1]));
    const rooms = ['asks', 'unsure', 'GET'].map((one) => hasRoomFor(`http.route=/ask\t${one}`, full));
    expect(rooms).toEqual([true, true, false]);
  });

  test('begins a bucket at each fifth minute, before 1970 as well', () => {
    expect([-1, 0, bucketWidthMs - 1, bucketWidthMs].map(bucketStart)).toEqual([
      -bucketWidthMs,
      0,
      0,
      bucketWidthMs,
    ]);
  });
});

describe('what counts, but is doubtful', () => {
  const asked = { 'gen_ai.operation.name': 'chat' };
  const agent = { 'user_agent.original': 'curl/8' };
  const below = (parent: number, attributes = {}) =>
    [
      { ...asked, ...attributes },
      { parentSpanId: spanId(parent), isEntry: false },
    ] as const;
  const request = (method: string, parent = 0, attributes = {}) =>
    [
      { 'http.request.method': method, ...attributes },
      { parentSpanId: parent === 0 ? '' : spanId(parent) },
    ] as const;
  type Spans = Readonly<Record<number, Readonly<Parameters<typeof recordOf>>>>;
  const ask: Spans = { 1: request('POST'), 2: below(1) };
  const page: Spans = { 1: request('GET', 0, agent), 2: request('POST', 1), 3: below(2) };
  const pages: Spans = { ...page, 4: request('POST', 1), 5: below(4) };

  /** All spans are of one trace and service. Each batch is a request of its own. */
  function doubts(batches: readonly Spans[], detection: CallerRules = {}) {
    const callerAttribute = 'caller_stats.caller';
    const rules = { queries: KNOWN_RULES, id: 'question', callerAttribute, detection } as const;
    const receipt = { project: 'docs', nowMs: Date.now(), rowsFrom: null };
    const index = new TraceIndex(1_000_000);
    const sums: Record<string, number> = {};
    for (const batch of batches) {
      const collector = new QueryCollector(rules, receipt, index);
      for (const [id, [attributes, more]] of Object.entries(batch))
        collector.add(recordOf(attributes, { spanId: spanId(Number(id)), ...more }));
      const { queries, tally } = returned(collector.result());
      for (const { noteRecorded } of queries) noteRecorded();
      const deliveries = tally.deliveries('traces', new Map());
      for (const { reason, records } of deliveries.flatMap(({ refusals = [] }) => refusals))
        sums[reason] = (sums[reason] ?? 0) + records;
    }
    return sums;
  }

  /** The same spans in one batch, and each in one of its own, the first one last. */
  const splits = (spans: Spans) => [
    [spans],
    Object.entries(spans)
      .toReversed()
      .map(([id, span]) => ({ [id]: span })),
  ];

  test.each<[what: string, spans: Spans, detection?: CallerRules]>([
    ['requests of which no question is known', { 1: request('POST') }],
    ['questions without a request', { 1: [asked, { isEntry: false }] }],
    ['requests with a user agent', { ...ask, 1: request('POST', 0, agent) }],
    [
      'requests with an origin',
      { ...ask, 1: request('POST', 0, { 'http.request.header.origin': 'https://a.example' }) },
    ],
    ['old names of headers', { ...ask, 1: request('POST', 0, { 'http.user_agent': 'curl/8' }) }],
    ['requests that name the caller', { ...ask, 1: request('POST', 0, { 'caller_stats.caller': 'web' }) }],
    ['questions that name the caller', { ...ask, 2: below(1, { 'caller_stats.caller': 'web' }) }],
    ['requests of other servers, whose headers may tell', { ...ask, 1: request('POST', 9) }],
    ['one caller for all on purpose', ask, { fallback: 'slack' }],
    ['several calls of one question', { ...page, 4: below(2), 5: below(2) }],
    ['several questions with ids', { ...pages, 3: below(2, { 'caller_stats.id': 'a' }) }],
    [
      'questions of which it is not known what is above them',
      { 2: request('POST', 1), 3: below(2), 4: request('POST', 1), 5: below(4) },
    ],
    ['what is ignored', { ...pages, 2: request('POST', 1, { 'caller_stats.ignore': 'true' }) }],
  ])('are not %s', (_what, spans, detection) => {
    for (const batches of splits(spans)) expect(doubts(batches, detection)).toEqual({});
  });

  test('are requests without any header, unless others of their service have some', () => {
    for (const batches of splits(ask)) expect(doubts(batches)).toEqual({ 'no-header': 1 });
    expect(doubts([ask], { fallback: 'unknown' })).toEqual({ 'no-header': 1 });
    expect(doubts([ask], { fallback: 'api', siteOrigins: ['https://a.example'] })).toEqual({
      'no-header': 1,
    });
    expect(doubts([{ ...ask, 9: request('GET', 0, agent) }])).toEqual({});
  });

  test('are several questions of one trace, each once', () => {
    for (const batches of splits(pages)) {
      expect(doubts(batches)).toEqual({ 'many-in-trace': 1 });
      expect(doubts([...batches, pages])).toEqual({ 'many-in-trace': 1 });
    }
    const more = { 6: request('POST', 1), 7: below(6) };
    expect(doubts([pages, more])).toEqual({ 'many-in-trace': 2 });
  });
});
