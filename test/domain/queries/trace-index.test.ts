/** What the path from a span to the first one of its trace says of a query, as far as it is known. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answersMax, traceSpansMax } from '../../../src/domain/limits.js';
import {
  type IndexedQuery,
  type IndexedSpan,
  spanBytes,
  type Told,
  type Trace,
} from '../../../src/domain/queries/trace.js';
import { TraceIndex } from '../../../src/domain/queries/trace-index.js';
import { traceId } from '../../support/http/telemetry.js';

type Spans = readonly (readonly [spanId: string, span: Partial<IndexedSpan>])[];

const plain: IndexedSpan = {
  parentSpanId: '',
  isEntry: false,
  entryKind: undefined,
  run: undefined,
  agentRun: undefined,
  isIgnored: false,
  service: 'docs',
  explicitId: undefined,
  caller: undefined,
  hint: '',
  askedAt: undefined,
  responseId: undefined,
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
  const found = addAll(new TraceIndex(100_000), spans).unrecorded();
  return found.map(({ keys: { explicitId, entrySpanId, innerSpanIds = [] }, caller }) => ({
    ...(innerSpanIds.length > 0 && { innerSpanIds }),
    ...(explicitId !== undefined && { explicitId }),
    ...(entrySpanId !== undefined && { entrySpanId }),
    ...(caller !== undefined && { caller }),
  }));
}

/** Of a trace whose first span is a page: a request of each service, with a call of a model. */
const requestOf = (service: string, name: string): Spans => [
  [name, { ...server, ...below('page'), service }],
  [`${name} model`, { ...below(name), ...asked, service }],
];

describe('the service that is named with several queries in one trace', () => {
  const page: Spans[number] = ['page', {}];
  const askTwice: Spans = [...requestOf('docs', 'a'), ...requestOf('docs', 'b')];
  const readDoubts = (trace: Trace) => {
    trace.unrecorded();
    return trace.doubts();
  };

  test('is not the one of spans that were taken out', () => {
    const trace = addAll(new TraceIndex(100_000), [page, ...requestOf('agent', 'x'), ...askTwice]);
    trace.unrecorded();
    trace.trim(4);
    expect(readDoubts(trace)).toMatchObject({ more: 1, service: 'docs' });
  });

  test('does not depend on the order of the spans', () => {
    const spans = [page, ...requestOf('agent', 'x'), ...askTwice];
    const inOrder = fc.shuffledSubarray(spans, { minLength: spans.length });
    fc.assert(
      fc.property(inOrder, (some) => {
        const doubts = readDoubts(addAll(new TraceIndex(100_000), some));
        expect(doubts).toMatchObject({ more: 2, service: 'docs' });
      }),
    );
  });
});

test('the answers of a query with thousands of model calls are a hundred', () => {
  const calls = Array.from({ length: 3000 }, (_, at): Spans[number] => [
    `call ${at}`,
    { ...asked, responseId: `response ${at}` },
  ]);
  const [query] = addAll(new TraceIndex(10_000_000), calls).unrecorded();
  expect(query?.keys.responses).toHaveLength(answersMax);
});

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
      [{ entrySpanId: 'server', innerSpanIds: ['inner'] }],
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
    const index = new TraceIndex(100_000);
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
  // The memory of a trace is at most that of a span; each of these has two.
  const index = new TraceIndex(9.5 * spanBytes);
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
  const index = new TraceIndex(10 * traceSpansMax * spanBytes);
  const spans = Array.from(
    { length: traceSpansMax + 5 },
    (_, at) => [`${at}`, { ...asked, explicitId: `${at}` }] as const,
  );
  const trace = addAll(index, spans);
  expect(trace.unrecorded()).toHaveLength(spans.length);
  index.trim([trace]);
  expect(trace.size).toBe(traceSpansMax);
});

test('long texts count, so that fewer spans with them are kept', () => {
  const index = new TraceIndex(100 * spanBytes);
  for (let number = 1; number <= 100; number++) {
    const texts = { explicitId: 'i'.repeat(spanBytes), caller: 'c', service: 's'.repeat(spanBytes) };
    index.trim([addAll(index, [['a', texts]], traceId(number))]);
  }
  const kept = Array.from({ length: 100 }, (_, at) => index.open('docs', traceId(at + 1)).size);
  expect(kept.filter((size) => size === 1)).toHaveLength(16);
});

test('a trace is of one project', () => {
  const index = new TraceIndex(100_000);
  addAll(index, [['a', asked]]);
  expect(index.open('blog', traceId(1)).size).toBe(0);
});

type Arrived = ReadonlyMap<string, IndexedSpan>;

/** The span and those above it, as far as they have arrived, the first one first. */
function pathOf(spans: Arrived, spanId: string): (readonly [spanId: string, span: IndexedSpan])[] {
  const span = spans.get(spanId);
  return span === undefined ? [] : [...pathOf(spans, span.parentSpanId), [spanId, span]];
}

/** The entries with spans of queries of their own. */
function holdersIn(spans: Arrived): Set<string> {
  const holders = [...spans.keys()].map((spanId) => {
    const path = pathOf(spans, spanId);
    const [first] = path.find(([, { askedAt }]) => askedAt !== undefined) ?? [];
    const [nearest] = path.findLast(([, { isEntry }]) => isEntry) ?? [];
    const isIgnored = path.some((one) => one[1].isIgnored);
    return first !== spanId || nearest === spanId || isIgnored ? undefined : nearest;
  });
  return new Set(holders.filter((one) => one !== undefined));
}

/** The keys of the queries by a walk of each span's whole path, as one naive function of all that has arrived. */
function walkAll(spans: Arrived): string[] {
  const holders = holdersIn(spans);
  return [...spans].flatMap(([spanId, { askedAt }]) => {
    const path = pathOf(spans, spanId);
    if (askedAt === undefined || path.some((one) => one[1].isIgnored)) return [];
    const last = (name: 'explicitId' | 'caller') =>
      path.map((one) => one[1][name]).findLast((one) => one !== undefined);
    const first = path.findIndex((one) => one[1].askedAt !== undefined);
    const isEntry = (one: (typeof path)[number]) => one[1].isEntry;
    const above = path.slice(0, first + 1).filter(isEntry);
    const begin =
      above.find((one) => one[1].entryKind === 'request') ??
      above.find(([id, { service }]) => holders.has(id) && service === above.at(-1)?.[1].service) ??
      above.at(-1);
    const isUnsure = path[0]?.[1].parentSpanId !== '' && begin?.[1].entryKind === 'step';
    const keyOf = ([id, { parentSpanId, run = id }]: (typeof path)[number]) =>
      parentSpanId === '' ? undefined : run;
    const key = isUnsure || !begin ? undefined : keyOf(begin);
    const entries = path.filter(isEntry);
    const inner = isUnsure ? [] : entries.slice(begin ? entries.indexOf(begin) + 1 : 0).map(keyOf);
    const others = inner.filter((one) => one !== undefined && one !== key);
    return [JSON.stringify([last('explicitId'), last('caller'), key, isUnsure, others.join()])];
  });
}

/** What the trace has not recorded, without the lists of inner spans that the spans of a query share. */
const namesOf = (all: readonly string[]) =>
  [...new Set(all.map((one) => JSON.stringify((JSON.parse(one) as unknown[]).slice(0, 4))))].toSorted();

function nameOf({ keys, caller }: IndexedQuery): string {
  const { explicitId, entrySpanId, isUnsure, innerSpanIds = [] } = keys;
  return JSON.stringify([explicitId, caller, entrySpanId, isUnsure, innerSpanIds.join()]);
}

const foundIn = (trace: Trace) => trace.unrecorded().map(nameOf);

function inRequests(spans: Spans, sizes: readonly number[]): Spans[] {
  const requests: Spans[] = [];
  for (let at = 0; at < spans.length; at += requests.at(-1)?.length ?? 1)
    requests.push(spans.slice(at, at + (sizes[requests.length % sizes.length] ?? 1)));
  return requests;
}

/** Spans that are below one another without circles, in any order, some of them twice and some missing. */
const anyTrace = fc
  .array(
    fc.record({
      parent: fc.nat({ max: 12 }),
      isEntry: fc.boolean(),
      service: fc.constantFrom('docs', 'agent'),
      entryKind: fc.constantFrom(undefined, undefined, 'request' as const, 'step' as const),
      run: fc.constantFrom(undefined, undefined, 'run'),
      isIgnored: fc.constantFrom(false, false, false, false, true),
      askedAt: fc.constantFrom(undefined, undefined, 1, 2),
      explicitId: fc.constantFrom(undefined, undefined, 'i', 'j'),
      caller: fc.constantFrom(undefined, undefined, 'slack', 'api'),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((all) =>
    all.map(({ parent, ...one }, at): Spans[number] => {
      const parentSpanId = at === 0 || parent >= at ? (parent % 2 === 0 ? '' : 'elsewhere') : `s${parent}`;
      return [`s${at}`, { ...one, parentSpanId }];
    }),
  )
  .chain((all) =>
    fc.record({
      spans: fc.shuffledSubarray([...all, ...all], { minLength: 1 }),
      sizes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }),
    }),
  );

/** The names with whether there is a caller: another one alone is no reason to record again. */
const keysOf = (names: Iterable<string>) =>
  [...names].map((one) => {
    const [explicitId, caller, entrySpanId, isUnsure] = JSON.parse(one) as unknown[];
    return JSON.stringify([explicitId, entrySpanId, isUnsure, caller !== null]);
  });

const beginsOf = (names: Iterable<string>) =>
  [...names].map((one) => {
    const [explicitId, , entrySpanId] = JSON.parse(one) as unknown[];
    return JSON.stringify([explicitId, entrySpanId]);
  });

describe('laws', () => {
  test('after each request, the queries whose keys changed are found, as by a walk of everything', () => {
    fc.assert(
      fc.property(anyTrace, ({ spans, sizes }) => {
        const index = new TraceIndex(1_000_000);
        const arrived = new Map<string, IndexedSpan>();
        const recorded = new Set<string>();
        for (const part of inRequests(spans, sizes)) {
          for (const [spanId, span] of part) arrived.set(spanId, { ...plain, ...span });
          const unrecorded = addAll(index, part).unrecorded();
          const found = namesOf(unrecorded.filter(({ keys }) => !keys.isIgnored).map(nameOf));
          const ignored = namesOf(unrecorded.filter(({ keys }) => keys.isIgnored).map(nameOf));
          for (const one of unrecorded) one.noteRecorded();
          for (const key of keysOf(found)) recorded.add(key);
          const all = namesOf(walkAll(arrived));
          expect(all).toEqual(expect.arrayContaining(found));
          expect(beginsOf(all).filter((one) => beginsOf(ignored).includes(one))).toEqual([]);
          expect([...recorded]).toEqual(expect.arrayContaining(keysOf(all)));
          expect(addAll(index, []).unrecorded()).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('in any order and any requests, the spans say the same in the end', () => {
    fc.assert(
      fc.property(anyTrace, ({ spans, sizes }) => {
        const index = new TraceIndex(1_000_000);
        for (const part of inRequests(spans, sizes))
          for (const one of addAll(index, part).unrecorded()) one.noteRecorded();
        // Sent again, all of them are found again.
        const again = foundIn(addAll(index, spans));
        const inOne = foundIn(addAll(new TraceIndex(1_000_000), spans.toReversed()));
        expect(namesOf(again)).toEqual(namesOf(inOne));
        expect(namesOf(again)).toEqual(
          namesOf(walkAll(new Map(spans.map(([id, one]) => [id, { ...plain, ...one }])))),
        );
        const inner = (all: readonly string[]) =>
          new Set(all.flatMap((one) => (JSON.parse(one) as string[])[4]?.split(',') ?? []));
        expect(inner(again)).toEqual(inner(inOne));
      }),
      { numRuns: 300 },
    );
  });

  test('parts that are recorded together say what they say when each is recorded before the next', () => {
    // Inner spans are a set, and of a query that is to be ignored only its strongest key is read.
    const told = ({ keys, ...query }: IndexedQuery) =>
      keys.isIgnored
        ? JSON.stringify([keys.explicitId, keys.entrySpanId])
        : nameOf({ keys: { ...keys, innerSpanIds: keys.innerSpanIds?.toSorted() }, ...query });
    fc.assert(
      fc.property(anyTrace, ({ spans, sizes }) => {
        const [index, other] = [new TraceIndex(1_000_000), new TraceIndex(1_000_000)];
        const together: Told = new Map();
        const parts = inRequests(spans, sizes);
        const all = parts.flatMap((part) => addAll(index, part).unrecorded(together));
        const each = parts.flatMap((part) =>
          addAll(other, part)
            .unrecorded()
            .map((query) => {
              query.noteRecorded();
              return told(query);
            }),
        );
        expect(new Set(all.map(told))).toEqual(new Set(each));
        expect(all.length).toBeLessThanOrEqual(each.length);
        for (const one of all) one.noteRecorded();
        expect(addAll(index, []).unrecorded()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('paths of any shape end, also in circles, and spans in any order say the same', () => {
    const name = fc.constantFrom('', 'a', 'b', 'c', 'd', 'e');
    const span = fc.record({
      parentSpanId: name,
      isEntry: fc.boolean(),
      askedAt: fc.constantFrom(undefined, 1),
    });
    const spans = fc.uniqueArray(fc.tuple(name, span), { selector: ([id]) => id });
    fc.assert(
      fc.property(spans, (all) => {
        const one = (found: Spans) => foundIn(addAll(new TraceIndex(100_000), found)).toSorted();
        expect(namesOf(one(all))).toEqual(namesOf(one(all.toReversed())));
        const index = new TraceIndex(100_000);
        for (const each of all) addAll(index, [each]).unrecorded();
        expect(namesOf(foundIn(addAll(index, all)))).toEqual(namesOf(one(all)));
      }),
    );
  });
});

describe('the work of a request', () => {
  const nested = (count: number): Spans =>
    Array.from({ length: count }, (_, at) => [`${at}`, { ...server, ...asked, ...below(`${at - 1}`) }]);
  const record = (trace: Trace) => {
    const before = trace.steps;
    const found = trace.unrecorded();
    for (const one of found) one.noteRecorded();
    return { found, steps: trace.steps - before };
  };

  test('is no more than that of the spans that it brings and of those below, however deep they are', () => {
    const count = traceSpansMax - 10;
    for (const order of [nested(count), nested(count).toReversed()]) {
      const index = new TraceIndex(1e9);
      const trace = addAll(index, order);
      const { found } = record(trace);
      expect(trace.steps).toBeLessThanOrEqual(3 * count);
      expect(found.flatMap(({ keys }) => keys.innerSpanIds ?? []).length).toBeLessThanOrEqual(count);
      const before = trace.steps;
      // One more below the innermost, one of its own, and one that has arrived already.
      const more: Spans = [
        ['leaf', { ...asked, ...below(`${count - 1}`) }],
        ['other', { ...asked, ...below('elsewhere') }],
        ['0', { ...server, ...asked, ...below('-1') }],
      ];
      for (const one of more) record(addAll(index, [one]));
      expect(trace.steps - before).toBeLessThanOrEqual(6);
    }
  });

  test('keeps few inner servers of a path', () => {
    const index = new TraceIndex(1e9);
    const trace = addAll(index, nested(100));
    record(trace);
    const { found } = record(addAll(index, [['leaf', { ...asked, ...below('99') }]]));
    expect(found.map(({ keys }) => keys.innerSpanIds?.length)).toEqual([15]);
  });
});

/** Records what is to be recorded, and returns the ids of the spans it begins with, by whether it is to be ignored. */
function record(trace: Trace) {
  return trace.unrecorded().map(({ keys, noteRecorded }) => {
    noteRecorded();
    return keys.isIgnored ? 'taken back' : 'counted';
  });
}

describe('a span that counted and is sent again', () => {
  const model: Spans[number] = ['model', { ...below('flow'), ...asked }];
  const ignoredFlow: Spans[number] = ['flow', { isIgnored: true }];

  test.each<[what: string, again: Spans, Spans | undefined, string[][]]>([
    ['counts again, for the store to decide', [model], undefined, [['counted']]],
    ['is taken back beside an ignored one above it', [model, ignoredFlow], undefined, [['taken back']]],
    ['is taken back behind it', [ignoredFlow, model], undefined, [['taken back']]],
    ['is taken back once', [ignoredFlow, model], [model], [['taken back'], []]],
    ['is taken back after it', [model], [ignoredFlow], [['counted'], ['taken back']]],
  ])('%s', (_, again, later, expected) => {
    const index = new TraceIndex(100_000);
    expect(record(addAll(index, [model]))).toEqual(['counted']);
    const rest = [again, later].flatMap((spans) => (spans === undefined ? [] : [spans]));
    expect(rest.map((spans) => record(addAll(index, spans)))).toEqual(expected);
  });
});
