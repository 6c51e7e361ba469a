/** Which found queries are one, whatever is known of them first. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  keyNames,
  planIdentities,
  type QueryKeys,
  type StoredKey,
  strongestQueryId,
  traceQueryId,
} from '../../../src/domain/queries/query-identity.js';
import { spanId, traceId } from '../../support/http/telemetry.js';

/** Identifies batches of queries as a store does, and returns the ids of the queries of each. */
function identify(...batches: readonly (readonly QueryKeys[])[]): string[][] {
  const stored = new Map<string, StoredKey>();
  return batches.map((batch) => {
    const { queryIds, changes } = planIdentities(batch, stored);
    for (const [name, key] of changes) stored.set(name, key);
    return [...queryIds];
  });
}

const distinct = (ids: readonly (readonly string[])[]) => new Set(ids.flat()).size;
const keys = (more: Partial<QueryKeys> = {}): QueryKeys => ({
  traceId: traceId(1),
  service: 'docs',
  ...more,
});
const trace = keys();
const entry = (number: number, more: Partial<QueryKeys> = {}) =>
  keys({ entrySpanId: spanId(number), ...more });

describe('laws', () => {
  /** A query has some of these keys in each of its spans, but always its trace. */
  const query = fc.record({ trace: fc.nat({ max: 2 }), entry: fc.nat({ max: 3 }), isWhole: fc.boolean() });
  const toKeys = (one: { trace: number; entry: number; isWhole: boolean }) => ({
    traceId: traceId(one.trace),
    service: 'docs',
    ...(one.isWhole ? { entrySpanId: spanId(one.entry) } : {}),
  });
  const batches = fc.array(fc.array(query, { maxLength: 6 }), { maxLength: 6 });

  test('each trace is as many queries as server spans are known in it, and at least one', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const flat = all.flat();
        const expected = [...new Set(flat.map((one) => one.trace))]
          .map((number) => {
            const entries = flat.filter((one) => one.trace === number && one.isWhole);
            return Math.max(1, new Set(entries.map((one) => one.entry)).size);
          })
          .reduce((sum, count) => sum + count, 0);
        expect(distinct(identify(...all.map((batch) => batch.map(toKeys))))).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });

  test('a repeated query keeps its query', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const sent = all.map((batch) => batch.map(toKeys));
        const ids = identify(...sent, ...sent);
        const [first, again] = [ids.slice(0, sent.length), ids.slice(sent.length)];
        expect(distinct([...first, ...again])).toBe(distinct(first));
        for (const [at, batch] of sent.entries()) {
          for (const [place, one] of batch.entries()) {
            if (one.entrySpanId !== undefined) expect(again[at]?.[place]).toBe(first[at]?.[place]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('queries with ids are one for each id, whatever else is known of them', () => {
    const named = fc.record({ id: fc.nat({ max: 3 }), entry: fc.option(fc.nat({ max: 2 })) });
    fc.assert(
      fc.property(fc.array(fc.array(named, { maxLength: 4 }), { maxLength: 5 }), (all) => {
        const sent = all.map((batch) =>
          batch.map((one) =>
            keys({
              explicitId: `message ${one.id}`,
              // Each id has a trace of its own, in which some spans say nothing more.
              traceId: traceId(one.id),
              ...(one.entry === null ? {} : { entrySpanId: spanId(one.entry) }),
            }),
          ),
        );
        const ids = identify(...sent);
        expect(distinct(ids)).toBe(new Set(all.flat().map((one) => one.id)).size);
      }),
    );
  });

  test('the order of the queries of one batch does not matter', () => {
    const one = fc.record(
      {
        traceId: fc.nat({ max: 1 }).map(traceId),
        entrySpanId: fc.nat({ max: 2 }).map(spanId),
        explicitId: fc.constantFrom('a', 'b'),
        service: fc.constantFrom('docs', 'search'),
      },
      { requiredKeys: ['traceId', 'service'] },
    );
    const withOrder = fc.array(one, { maxLength: 8 }).chain((all) =>
      fc.tuple(
        fc.constant(all),
        fc.shuffledSubarray(
          all.map((_, at) => at),
          { minLength: all.length },
        ),
      ),
    );
    fc.assert(
      fc.property(withOrder, ([all, order]) => {
        const [plain = []] = identify(all);
        const [shuffled = []] = identify(order.map((at) => all[at] ?? trace));
        expect(order.map((at) => plain[at])).toEqual(shuffled);
      }),
    );
  });
});

describe('examples', () => {
  const [one, two] = [entry(1), entry(2)];
  const message = (id: string, more: Partial<QueryKeys> = {}) => keys({ explicitId: id, ...more });
  const otherTrace = { traceId: traceId(2) };

  test.each<[what: string, batches: QueryKeys[][], expected: number]>([
    ['a trace of which nothing more is known', [[trace], [trace]], 1],
    ['a trace, then its server span', [[trace], [one]], 1],
    ['a server span, then a span that says nothing more', [[one], [trace]], 1],
    [
      'three queries that share the trace of a page',
      [
        [one, two],
        [entry(3), trace],
      ],
      3,
    ],
    ['the same message in two traces', [[message('a')], [message('a', otherTrace)]], 1],
    ['a message and spans of its trace without the id', [[trace], [message('a')], [trace, message('a')]], 1],
    ['a message and spans of its request without the id', [[message('a', one)], [one, trace]], 1],
    ['two messages in one trace', [[message('a')], [message('b')], [trace]], 2],
    ['two messages in one request', [[message('a', one)], [message('b', one)]], 2],
    ['a message without a trace', [[{ explicitId: 'a', service: '' }], [message('a')]], 1],
    [
      'a sub-agent whose server is heard of first',
      [[entry(2)], [entry(1, { innerSpanIds: [spanId(2)] }), one]],
      1,
    ],
    [
      'a sub-agent of a query without a server',
      [[entry(2)], [keys({ innerSpanIds: [spanId(2)] }), trace]],
      1,
    ],
    [
      'a sub-agent of a message, heard of first',
      [[entry(2)], [message('a', entry(1, { innerSpanIds: [spanId(2)] }))]],
      1,
    ],
    ['a sub-agent heard of later', [[entry(1, { innerSpanIds: [spanId(2)] })], [entry(2)]], 1],
    [
      'three queries of a page, of which a sub-agent in another service is heard of first',
      [[entry(9, { service: 'search' })], [entry(1, { innerSpanIds: [spanId(9)] }), one, two, entry(3)]],
      3,
    ],
    [
      'two requests whose sub-agents in another service are heard of in between',
      [
        [trace],
        [entry(8, { service: 'search' }), entry(9, { service: 'search' })],
        [entry(1, { innerSpanIds: [spanId(8)] })],
        [entry(2, { innerSpanIds: [spanId(9)] })],
      ],
      2,
    ],
    [
      'two messages whose sub-agents in another service are heard of in between',
      [
        [trace],
        [entry(8, { service: 'search' }), entry(9, { service: 'search' })],
        [message('a', entry(1, { innerSpanIds: [spanId(8)] }))],
        [message('b', entry(2, { innerSpanIds: [spanId(9)] }))],
      ],
      2,
    ],
    ['a sub-agent in another service', [[one], [entry(2, { service: 'search' })]], 1],
    ['a sub-agent that is heard of first', [[entry(2, { service: 'search' })], [one]], 1],
    ['a sub-agent after a span without its server', [[trace], [entry(2, { service: 'search' })], [one]], 1],
  ])('%s: %#', (_what, batches, expected) => {
    expect(distinct(identify(...batches))).toBe(expected);
  });

  const answered = (number: number, more: Partial<QueryKeys> = {}) =>
    keys({ traceId: traceId(number), responses: ['response:1:r'], ...more });
  const gateway = answered(1);
  const [first, second] = ['a', 'b'].map((id, at) => answered(at + 2, { explicitId: id }));

  test.each([
    [gateway, first, second],
    [gateway, second, first],
    [first, gateway, second],
    [second, gateway, first],
    [first, second, gateway],
    [second, first, gateway],
  ])('two messages with one answer stay two, whenever its gateway is heard of: %#', (...all) => {
    const batches = all.map((one) => (one === undefined ? [] : [one]));
    expect(distinct(identify(...batches, ...batches))).toBe(2);
    expect(distinct(identify(batches.flat()))).toBe(2);
  });

  test('a trace that was recorded without keys is the query of its first server span', () => {
    const id = traceQueryId(traceId(1));
    const stored = new Map([[`trace:${traceId(1)}`, { queryId: id, isTaken: false, service: 'docs' }]]);
    expect(planIdentities([one, two], stored).queryIds).toEqual([id, `${traceId(1)}-${spanId(2)}`]);
  });

  test('ids of new queries are those of their strongest keys', () => {
    expect(identify([message('a', one)], [entry(1, otherTrace)], [keys({ traceId: traceId(3) })])).toEqual([
      ['a'],
      [`${traceId(2)}-${spanId(1)}`],
      [traceQueryId(traceId(3))],
    ]);
    expect(strongestQueryId({ service: '' })).toBeUndefined();
    expect(keyNames(message('a', one))).toEqual([
      'id:a',
      `span:${traceId(1)}-${spanId(1)}`,
      `trace:${traceId(1)}`,
    ]);
  });
});
