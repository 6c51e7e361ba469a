import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { traceSpansMax } from '../../../src/domain/limits.js';
import { MergedQueries, planFound } from '../../../src/domain/queries/found-queries.js';
import { strongestQueryId } from '../../../src/domain/queries/query-identity.js';
import { QueryCollector } from '../../../src/domain/queries/telemetry.js';
import { RecordRules, type TelemetryRecord } from '../../../src/domain/queries/telemetry-record.js';
import { KNOWN_RULES } from '../../../src/domain/queries/telemetry-rules.js';
import type { IdSource, TelemetryRules } from '../../../src/domain/queries/telemetry-settings.js';
import { TraceIndex } from '../../../src/domain/queries/trace-index.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { ASKED, spanId, traceId, uuidOf } from '../../support/http/telemetry.js';
import { returned } from '../../support/http/telemetry-reading.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
const rules: TelemetryRules = {
  queries: [{ attribute: 'gen_ai.operation.name', values: ['invoke_agent', 'invoke_workflow'] }],
  id: 'trace',
  callerAttribute: 'caller_stats.caller',
  detection: { siteOrigins: ['https://docs.example.com'] },
};

interface Told {
  readonly traceId?: string;
  readonly parentSpanId?: string;
  readonly spanId?: string;
  readonly timeMs?: number;
  readonly timeNs?: bigint;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly resource?: Readonly<Record<string, string>>;
}

function recordOf({ timeMs = nowMs, attributes = {}, resource = {}, ...rest }: Told = {}): TelemetryRecord {
  return {
    traceId: traceId(1),
    spanId: spanId(1),
    parentSpanId: '',
    isEntry: false,
    name: '',
    isConsumer: false,
    isLog: false,
    timeNs: BigInt(timeMs) * 1_000_000n,
    ...rest,
    attributes: new Map(Object.entries({ ...ASKED, ...attributes })),
    resource: new Map(Object.entries(resource)),
  };
}

function found(
  records: readonly TelemetryRecord[],
  more: Partial<TelemetryRules> = {},
  rowsFrom: number | null = null,
) {
  const receipt = { project: 'docs', nowMs, rowsFrom };
  const collector = new QueryCollector({ ...rules, ...more }, receipt, new TraceIndex(1_000_000));
  for (const record of records) collector.add(record);
  const { queries: unmerged, rejected, problems } = returned(collector.result());
  const queryIds = unmerged.map(({ keys }) => strongestQueryId(keys) ?? '');
  const plan = planFound(unmerged, { queryIds, merges: [] }, new Map(), () => false);
  const merged = new MergedQueries();
  merged.add(unmerged, plan.queryIds);
  const queries = [...merged.byService(plan.callers).values()].flat();
  expect(collector.size).toBe(queries.length);
  return { rejected, problems, queries };
}

const name = `${traceId(1)}/${spanId(1)}`;
const caller = (name: string) => ({ 'caller_stats.caller': name });
const badCaller = 'caller: is not "web", "api" or a name of 1 to 64 of a-z 0-9 . _ - (^[a-z0-9._-]{1,64}$)';
const noTrace = 'has no valid trace id, so that a repeat could not be told from another query';
const noSpan = noTrace.replace('trace id', 'trace id and span id');
const tooFar = "occurredAt: lies more than a day ahead of the server's clock";
const tooEarly = (time: string) =>
  `occurredAt: lies before 2000-01-01T00:00:00.000Z: ${time} is a time in another unit, or of a clock that was not set`;
const tooOld = 'occurredAt: lies before 2026-06-15T12:00:00.000Z, from when on the project keeps rows';
const byMessage = { id: { attribute: 'message.id' } };

describe('an invalid query is rejected with its reason, and the others are accepted', () => {
  const zeros = '0'.repeat(32);
  test.each<[what: string, told: Told, problem: string, id?: IdSource, rowsFrom?: number]>([
    ['an upper-case caller', { attributes: caller('Slack') }, `${name}: ${badCaller}`],
    ['a bad caller of the resource', { resource: caller('a b') }, `${name}: ${badCaller}`],
    ['no trace', { traceId: '', spanId: '' }, `a record without trace id: ${noTrace}`],
    ['a short trace', { traceId: 'abc' }, `abc/${spanId(1)}: ${noTrace}`],
    ['a trace of zeros', { traceId: zeros }, `${zeros}/${spanId(1)}: ${noTrace}`],
    ['a long trace', { traceId: 'x'.repeat(100_000) }, `${'x'.repeat(32)}/${spanId(1)}: ${noTrace}`],
    ['no span id as query id', { spanId: '' }, `${traceId(1)}: ${noSpan}`, 'span'],
    ['zeros as query id', { spanId: zeros.slice(16) }, `${traceId(1)}/${zeros.slice(16)}: ${noSpan}`, 'span'],
    [
      'a long attribute as query id',
      { attributes: { 'message.id': 'x'.repeat(129) } },
      `${name}: id: is longer than 128 characters`,
      byMessage.id,
    ],
    ['more than a day ahead', { timeMs: nowMs + dayMs + 1 }, `${name}: ${tooFar}`],
    ['the last time of 64 bits', { timeNs: 2n ** 64n - 1n }, `${name}: ${tooFar}`],
    [
      'seconds as nanoseconds',
      { timeNs: BigInt(nowMs) * 1_000n },
      `${name}: ${tooEarly('1970-01-21T14:52:04.800Z')}`,
    ],
    ['before 2000', { timeMs: Date.UTC(2000, 0) - 1 }, `${name}: ${tooEarly('1999-12-31T23:59:59.999Z')}`],
    ['a time whose rows are gone', { timeMs: nowMs - 1 }, `${name}: ${tooOld}`, 'trace', nowMs],
  ])('%s', (_what, told, problem, id = 'trace', rowsFrom) => {
    const good = recordOf({ traceId: traceId(2), attributes: { 'message.id': 'good' } });
    const { queries, rejected, problems } = found([good, recordOf(told)], { id }, rowsFrom ?? null);
    expect([rejected, problems, queries.length]).toEqual([1, [problem], 1]);
  });

  test.each<[Told, IdSource]>([
    [{ traceId: `${traceId(1)}g` }, 'trace'],
    [{ traceId: `g${traceId(1)}` }, 'trace'],
    [{ spanId: `g${spanId(1)}` }, 'span'],
    [{ spanId: `${spanId(1)}g` }, 'span'],
  ])('an id with another character is invalid: %j', (told, id) => {
    expect(found([recordOf(told)], { id })).toMatchObject({ queries: [], rejected: 1 });
  });

  test('only the first five problems are reported', () => {
    const records = Array.from({ length: 9 }, (_, n) => recordOf({ traceId: `${n}` }));
    const { queries, rejected, problems } = found(records);
    expect([queries, rejected, problems.length]).toEqual([[], 9, 5]);
  });
});

test.each<[what: string, attributes: Record<string, string>, more?: Partial<TelemetryRules>]>([
  ['another operation', { 'gen_ai.operation.name': 'chat' }],
  ['a value that begins like it', { 'gen_ai.operation.name': 'invoke_agents' }],
  ['another attribute', {}, { queries: [{ attribute: 'http.route', values: [] }] }],
  ['no attribute for the id', {}, byMessage],
  ['an empty attribute for the id', { 'message.id': '' }, byMessage],
])('%s is not a query', (_what, attributes, more) => {
  expect(found([recordOf({ attributes })], more)).toEqual({ queries: [], rejected: 0, problems: [] });
});

describe('laws', () => {
  const told = fc.record(
    {
      traceId: fc.nat({ max: 5 }).map(traceId),
      spanId: fc.nat({ max: 20 }).map(spanId),
      timeMs: fc.nat({ max: 5 }).map((ms) => nowMs - ms),
      attributes: fc.record(
        {
          'gen_ai.operation.name': fc.constantFrom('chat', 'invoke_workflow', 'invoke_agent'),
          'caller_stats.caller': fc.constantFrom('web', 'api', 'slack', 'BAD'),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ['traceId', 'spanId', 'timeMs', 'attributes'] },
  );

  test('in any order: each trace once, at its earliest time, by the first caller that is named', () => {
    fc.assert(
      fc.property(fc.array(told, { maxLength: 30 }), fc.infiniteStream(fc.nat()), (all, order) => {
        const shuffled = all
          .map((one) => ({ one, rank: order.next().value as number }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ one }) => recordOf(one));
        const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
        const { queries, rejected } = found(shuffled);
        expect(queries.toSorted(byId)).toEqual(found(all.map(recordOf)).queries.toSorted(byId));

        const asked = all.filter(
          ({ attributes }) => (attributes['gen_ai.operation.name'] ?? 'invoke_agent') !== 'chat',
        );
        const good = asked.filter(({ attributes }) => attributes['caller_stats.caller'] !== 'BAD');
        expect(rejected).toBe(asked.length - good.length);
        expect(new Set(queries.map(({ id }) => id))).toEqual(new Set(good.map((one) => uuidOf(one.traceId))));
        for (const { id, caller, occurredAt } of queries) {
          const own = good.filter((one) => uuidOf(one.traceId) === id);
          expect(occurredAt).toBe(Math.min(...own.map(({ timeMs }) => timeMs)));
          const named = own.filter(({ attributes }) => attributes['caller_stats.caller'] !== undefined);
          const firstMs = Math.min(...named.map(({ timeMs }) => timeMs));
          const first = named.filter(({ timeMs }) => timeMs === firstMs);
          const callers = first.map(({ attributes }) => attributes['caller_stats.caller'] ?? '').sort();
          expect(caller).toBe(callers[0] ?? 'unknown');
        }
      }),
      { numRuns: 300 },
    );
  });

  test('no two spans become one query, and no two traces', () => {
    const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
    fc.assert(
      fc.property(fc.array(fc.tuple(hex(32), hex(16)), { maxLength: 20 }), (ids) => {
        const valid = ids.filter((both) => both.every((one) => !/^0+$/.test(one)));
        const records = valid.map(([trace, span]) => recordOf({ traceId: trace, spanId: span }));
        const traces = new Set(valid.map(([trace]) => trace));
        expect(found(records).queries).toHaveLength(traces.size);
        const spans = new Set(valid.map((both) => both.join()));
        expect(found(records, { id: 'span' }).queries).toHaveLength(spans.size);
      }),
    );
  });
});

test('a query of an earlier request is left out once retention has moved past it', () => {
  const index = new TraceIndex(1_000_000);
  const receive = (record: TelemetryRecord, rowsFrom: number) => {
    const receipt = { project: 'docs', nowMs, rowsFrom };
    const collector = new QueryCollector({ ...rules, id: 'question' }, receipt, index);
    collector.add(record);
    return returned(collector.result()).queries.map(({ keys }) => keys.entrySpanId);
  };
  const asked = recordOf({ parentSpanId: spanId(2), timeMs: nowMs - 5 });
  const server = { ...recordOf({ spanId: spanId(2) }), parentSpanId: spanId(3), isEntry: true };
  expect(receive(asked, nowMs - 5)).toEqual([undefined]);
  expect(receive({ ...server, attributes: new Map() }, nowMs - 4)).toEqual([]);
  expect(receive({ ...server, attributes: new Map() }, nowMs - 5)).toEqual([spanId(2)]);
});

test('many records of no query leave the event loop to others while they are followed, and while they are noted', () => {
  const receipt = { project: 'docs', nowMs, rowsFrom: null };
  const collector = new QueryCollector({ ...rules, id: 'question' }, receipt, new TraceIndex(1_000_000));
  const attributes = new Map([['event.name', 'clicked']]);
  for (let at = 0; at < 3000; at++)
    collector.add({ ...recordOf({ traceId: traceId(0x10000 + at) }), attributes });
  expect([...collector.result()]).toHaveLength(6);
});

test('queries of a trace with more spans than are kept are found once, and taken back if a later part says so', () => {
  const receipt = { project: 'docs', nowMs, rowsFrom: null };
  const collector = new QueryCollector({ ...rules, id: 'question' }, receipt, new TraceIndex(100_000_000));
  const parentSpanId = spanId(0xffff);
  for (let at = 1; at <= 2 * traceSpansMax; at++)
    collector.add(
      recordOf({
        spanId: spanId(0x1000 + at),
        parentSpanId,
        attributes: { 'caller_stats.id': `asked ${at}` },
      }),
    );
  const ignored = recordOf({ spanId: parentSpanId, attributes: { 'caller_stats.ignore': 'true' } });
  collector.add(ignored);
  const { queries } = returned(collector.result());
  const [counted, takenBack] = [false, true].map((is) => queries.filter(({ keys }) => keys.isIgnored === is));
  expect(counted).toHaveLength(2 * traceSpansMax);
  // The spans of the first part are forgotten before the last one.
  expect(takenBack).toHaveLength(traceSpansMax);
});

describe('records that say little of themselves', () => {
  const byQuery = { id: 'question' } as const;
  const named = (id: string) => ({ attributes: { 'caller_stats.id': id } });

  test('are different queries if they have different ids', () => {
    for (const isLog of [true, false])
      for (const spanId of ['', '0'.repeat(16), 'x'.repeat(1000)]) {
        const records = ['a', 'b'].map((id) => ({ ...recordOf({ ...named(id), spanId }), isLog }));
        expect(found(records, byQuery).queries.map(({ id }) => id)).toEqual(['a', 'b']);
      }
  });

  test.each(['true', 'False', 'null', 'None', 'undefined', 'NaN', '[object Object]'])(
    'are different queries if a program wrote %s for an id that it does not have',
    (id) => {
      const records = [1, 2, 3].map((at) =>
        recordOf({ ...named(id), spanId: spanId(at), traceId: traceId(at) }),
      );
      expect(new Set(found(records, byQuery).queries.map((query) => query.id)).size).toBe(3);
    },
  );

  test('and are logged in one span at one time are different queries if they have different ids', () => {
    const records = ['a', 'b'].map((id) => ({ ...recordOf(named(id)), isLog: true }));
    expect(found(records, byQuery).queries.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('have a name of their service that every store can keep', () => {
    const record = recordOf({ resource: { 'service.name': `a\0${'x'.repeat(1000)}` } });
    const receipt = { project: 'docs', nowMs, rowsFrom: null };
    const collector = new QueryCollector({ ...rules, ...byQuery }, receipt, new TraceIndex(1_000_000));
    collector.add(record);
    expect(returned(collector.result()).queries[0]?.keys.service).toMatch(/^a x{98}$/);
  });
});

describe('examples', () => {
  const message = { attributes: { 'message.id': '7' } };

  test.each<[what: string, told: Told, more: Partial<TelemetryRules>, expected: object]>([
    ['the trace as id, as a UUID', {}, {}, { id: uuidOf(traceId(1)) }],
    ['the span as id', {}, { id: 'span' }, { id: `${traceId(1)}-${spanId(1)}` }],
    ['an attribute as id', message, byMessage, { id: '7' }],
    ['an attribute as id, and no trace', { ...message, traceId: '' }, byMessage, { id: '7' }],
    [
      'any value',
      { attributes: { q: '' } },
      { queries: [{ attribute: 'q', values: [] }] },
      { caller: 'unknown' },
    ],
    ['a workflow', { attributes: { 'gen_ai.operation.name': 'invoke_workflow' } }, {}, { occurredAt: nowMs }],
    ['finer digits dropped', { timeNs: BigInt(nowMs) * 1_000_000n + 999_999n }, {}, { occurredAt: nowMs }],
    ['no time', { timeNs: 0n }, {}, { occurredAt: nowMs }],
    ['just within a day', { timeMs: nowMs + dayMs }, {}, { occurredAt: nowMs + dayMs }],
  ])('%s', (_what, told, more, expected) => {
    expect(found([recordOf(told)], more).queries[0]).toMatchObject(expected);
  });

  const agent = { 'user_agent.original': 'Slackbot 1.0' };
  test.each<[what: string, expected: string, attributes: Record<string, string>, resource?: string]>([
    ['nothing that names a caller', 'unknown', {}],
    ["the record's caller", 'mcp', caller('mcp')],
    ["the resource's caller", 'slack', {}, 'slack'],
    ["the record's caller before the resource's", 'mcp', caller('mcp'), 'slack'],
    ["the resource's caller where the record's is empty", 'slack', caller(''), 'slack'],
    ['no caller where both are empty', 'unknown', caller(''), ''],
    ['a page of the site', 'web', { 'http.request.header.origin': 'https://docs.example.com' }],
    ['a known user agent', 'slack', agent],
    ['a known user agent under its older name', 'slack', { 'http.user_agent': 'Slackbot 1.0' }],
    ['an unknown user agent', 'unknown', { 'user_agent.original': 'curl/8' }],
    ['a header', 'slack', { 'http.request.header.x-slack-signature': 'x' }],
    ['a header with _ for -', 'slack', { 'http.request.header.x_slack_signature': 'v0=' }],
    ['a named caller before headers', 'api', { ...agent, ...caller('api') }],
  ])('the caller by %s is %s', (_what, expected, attributes, resource) => {
    const record = recordOf({
      attributes,
      ...(resource === undefined ? {} : { resource: caller(resource) }),
    });
    expect(found([record]).queries[0]?.caller).toBe(expected);
  });

  test.each<[what: string, id: IdSource]>([
    ['a trace', 'trace'],
    ['a span', 'span'],
    ['an attribute', byMessage.id],
  ])('of a query that is %s, the spans above say nothing', (_what, id) => {
    const above = recordOf({ attributes: { 'caller_stats.ignore': 'true', ...caller('slack') } });
    const below = { ...message, spanId: spanId(2), parentSpanId: spanId(1) };
    const count = (resource: Record<string, string>) =>
      found([above, recordOf({ ...below, resource })], { id }).queries.map((query) => query.caller);
    expect(count({})).toEqual(['unknown']);
    expect(count(caller('slack'))).toEqual(['slack']);
    expect(count({ 'caller_stats.ignore': 'true' })).toEqual([]);
  });

  test('a record that names no caller gets the default caller', () => {
    expect(found([recordOf()], { detection: { fallback: 'web' } }).queries[0]?.caller).toBe('web');
  });

  test('a caller found in the headers of a later record replaces an unknown one', () => {
    const late = { timeMs: nowMs + 1, attributes: agent };
    expect(found([recordOf(), recordOf(late)]).queries.map(({ caller }) => caller)).toEqual(['slack']);
  });

  test('the documented Collector keeps all attributes that are read', () => {
    const page = readFileSync(
      new URL('../../../docs/guides/record/opentelemetry.md', import.meta.url),
      'utf8',
    );
    const [, quoted = ''] = /keep_matching_keys\(attributes,\s+("[^"]+")/.exec(page) ?? [];
    const kept = new RegExp(JSON.parse(quoted) as string);
    const { attributes } = new RecordRules({
      ...rules,
      queries: [...KNOWN_RULES, { attribute: 'http.route', values: [] }],
      id: 'question',
    });
    const names = [...attributes, 'http.request.header.origin'];
    // The name of the service is an attribute of the resource, which the Collector keeps.
    expect(names.filter((name) => !kept.test(name))).toEqual(['service.name']);
    expect(
      ['gen_ai.input.messages', 'ai.prompt', 'ai.response.text', 'input.value'].filter((name) =>
        kept.test(name),
      ),
    ).toEqual([]);
  });

  test('prompts are not even read', () => {
    const recordRules = new RecordRules({ ...rules, id: { attribute: 'm' } });
    const read = (attribute: string) => recordRules.reads(attribute);
    const wanted = ['gen_ai.operation.name', 'm', 'caller_stats.caller', 'user_agent.original'];
    expect(wanted.every(read)).toBe(true);
    expect(read('http.request.header.origin')).toBe(true);
    expect(['gen_ai.input.messages', 'gen_ai.prompt', 'enduser.id', ''].some(read)).toBe(false);
  });
});
