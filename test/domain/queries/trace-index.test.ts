/** What the path from a span to the first one of its trace says of a query, as far as it is known. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { traceSpansMax } from '../../../src/domain/limits.js';
import { type IndexedSpan, TraceIndex } from '../../../src/domain/queries/trace-index.js';
import { traceId } from '../../support/http/telemetry.js';

type Spans = readonly (readonly [spanId: string, span: Partial<IndexedSpan>])[];

const plain: IndexedSpan = {
  parentSpanId: '',
  isEntry: false,
  service: 'docs',
  explicitId: undefined,
  caller: undefined,
  askedAt: undefined,
};
const asked = { askedAt: 1 };
const server = { isEntry: true };
const below = (parentSpanId: string) => ({ parentSpanId });

function addAll(index: TraceIndex, spans: Spans, id = traceId(1)) {
  const trace = index.open('docs', id);
  for (const [spanId, span] of spans) index.add(trace, spanId, { ...plain, ...span });
  return trace;
}

/** The keys and callers of the queries among the spans. */
function read(spans: Spans) {
  const found = addAll(new TraceIndex(100), spans).unrecorded();
  return found.map(({ keys: { explicitId, entrySpanId, innerSpanIds = [] }, caller }) => ({
    ...(innerSpanIds.length > 0 && { innerSpanIds }),
    ...(explicitId !== undefined && { explicitId }),
    ...(entrySpanId !== undefined && { entrySpanId }),
    ...(caller !== undefined && { caller }),
  }));
}

describe('a query', () => {
  const request: Spans = [
    ['server', { ...server, ...below('page') }],
    ['route', below('server')],
    ['model', { ...below('route'), ...asked }],
  ];

  test.each<[what: string, spans: Spans, expected: object[]]>([
    ['whose path is not known has no entry', request.slice(1), [{}]],
    ['begins at the server above it', request, [{ entrySpanId: 'server' }]],
    ['without a server has no entry', [['model', asked]], [{}]],
    [
      'begins at no server that is the first span of its trace',
      [
        ['s', server],
        ['m', { ...below('s'), ...asked }],
      ],
      [{}],
    ],
    [
      'that is a server itself begins there',
      [['s', { ...server, ...below('page'), ...asked }]],
      [{ entrySpanId: 's' }],
    ],
    [
      'in a sub-agent begins where the outermost one does',
      [...request, ['inner', { ...server, ...below('model') }], ['sub', { ...below('inner'), ...asked }]],
      [{ entrySpanId: 'server' }, { entrySpanId: 'server', innerSpanIds: ['inner'] }],
    ],
    [
      'has the id and the caller of the nearest span above it that has them',
      [
        ['server', { ...server, ...below('page'), explicitId: 'far', caller: 'slack' }],
        ['route', { ...below('server'), explicitId: 'near' }],
        ['model', { ...below('route'), ...asked }],
      ],
      [{ explicitId: 'near', entrySpanId: 'server', caller: 'slack' }],
    ],
    [
      'below itself ends somewhere',
      [
        ['a', { ...below('b'), ...asked }],
        ['b', below('a')],
      ],
      [{}],
    ],
  ])('%s', (_what, spans, expected) => {
    expect(read(spans)).toEqual(expected);
    expect(read(spans.toReversed())).toEqual(expected.toReversed());
  });

  test('is found again only when more is known of it than when it was recorded', () => {
    const index = new TraceIndex(100);
    const trace = addAll(index, request.slice(2));
    expect(trace.unrecorded()).toHaveLength(1);
    const [first] = trace.unrecorded();
    first?.noteRecorded();
    expect(trace.unrecorded()).toEqual([]);
    addAll(index, request.slice(1, 2));
    expect(trace.unrecorded()).toEqual([]);
    addAll(index, request.slice(0, 1));
    expect(trace.unrecorded()).toMatchObject([{ keys: { entrySpanId: 'server' } }]);
  });
});

test('the oldest traces are forgotten', () => {
  const index = new TraceIndex(6);
  const spans = (name: string): Spans => [
    [`${name} server`, { ...server, ...below('page') }],
    [name, { ...below(`${name} server`), ...asked }],
  ];
  for (const number of [1, 2, 3]) addAll(index, spans('a'), traceId(number));
  // The first trace is now the newest one.
  addAll(index, [], traceId(1));
  addAll(index, spans('a'), traceId(4));
  index.trim([]);
  const found = [1, 2, 3, 4].map((number) => index.open('docs', traceId(number)).size);
  expect(found).toEqual([2, 0, 2, 2]);
});

test('the oldest spans of a long trace are forgotten, but not before its queries were found', () => {
  const index = new TraceIndex(10 * traceSpansMax);
  const spans = Array.from({ length: traceSpansMax + 5 }, (_, at) => [`${at}`, asked] as const);
  const trace = addAll(index, spans);
  expect(trace.unrecorded()).toHaveLength(spans.length);
  index.trim([trace]);
  expect(trace.size).toBe(traceSpansMax);
});

test('a trace is of one project', () => {
  const index = new TraceIndex(10);
  addAll(index, [['a', asked]]);
  expect(index.open('blog', traceId(1)).size).toBe(0);
});

test('paths of any shape and length end, and spans in any order say the same', () => {
  const name = fc.constantFrom('', 'a', 'b', 'c', 'd', 'e');
  const span = fc.record({
    parentSpanId: name,
    isEntry: fc.boolean(),
    askedAt: fc.constantFrom(undefined, 1),
  });
  const spans = fc.uniqueArray(fc.tuple(name, span), { selector: ([id]) => id });
  fc.assert(
    fc.property(spans, (all) => {
      const byEntry = (found: readonly object[]) => found.map((one) => JSON.stringify(one)).toSorted();
      expect(byEntry(read(all))).toEqual(byEntry(read(all.toReversed())));
    }),
  );
});
