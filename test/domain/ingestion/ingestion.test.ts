/** Counting what arrives by source: every record is counted once, names and values are bounded. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readOperations, splitOperation, suggestRules } from '../../../src/domain/ingestion/operations.js';
import { type Outcome, RecordTally } from '../../../src/domain/ingestion/record-tally.js';
import {
  bucketStart,
  bucketWidthMs,
  COUNT_NAMES,
  type Delivery,
  IngestionTally,
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
import { formatQueryRules, KNOWN_RULES } from '../../../src/domain/queries/telemetry-rules.js';
import { parseQueryRules } from '../../../src/domain/queries/telemetry-settings.js';

const operation = (value: string) => ({ attribute: 'gen_ai.operation.name', value });

describe('an operation', () => {
  test.each([
    ['an attribute with a prompt', { 'gen_ai.prompt': 'What is a span?' }],
    ['an empty value', { 'http.route': '' }],
    ['a long value', { 'http.route': 'x'.repeat(operationCharactersMax + 1) }],
    ['a value with a control character', { 'http.route': '/a\n' }],
    ['a value that no database takes', { 'http.route': '/a\u{0}' }],
    ['half of a surrogate pair', { 'http.route': '\u{d800}' }],
  ])('is not read from %s', (_what, attributes) => {
    expect(readOperations(new Map(Object.entries(attributes)))).toEqual([]);
  });

  test('is the attribute and its value', () => {
    const attributes = new Map([
      ['http.route', '/a=b'],
      ['gen_ai.operation.name', 'chat'],
      ['other', 'x'],
    ]);
    expect(readOperations(attributes)).toEqual(['gen_ai.operation.name=chat', 'http.route=/a=b']);
    expect(splitOperation('http.route=/a=b')).toEqual({ attribute: 'http.route', value: '/a=b' });
  });

  test.each([
    ['that matches a rule already', operation('chat')],
    ['that occurs without a question', operation('embeddings')],
    ['with a separator of rules', { attribute: 'http.route', value: '/a,/b' }],
    ['with the other separator of rules', { attribute: 'http.route', value: '/a;b' }],
  ])('%s needs no rule', (_what, one) => {
    expect(suggestRules(one, KNOWN_RULES)).toBeNull();
  });

  test('has a rule that accepts it, beside those that there are', () => {
    expect(suggestRules({ attribute: 'http.route', value: '/api/ask' }, KNOWN_RULES)).toBe(
      'default;http.route=/api/ask',
    );
    expect(suggestRules(operation('chat'), [{ attribute: 'a', values: ['b', 'c'] }])).toBe(
      'a=b,c;gen_ai.operation.name=chat',
    );
  });

  test('of any form has a rule that the setting accepts and that matches it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (value) => {
        for (const read of readOperations(new Map([['event.name', value]]))) {
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
        for (const { service, outcome } of records) tally.add(sourceName(service), new Map(), outcome);
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
    for (const outcome of ['matched', 'matched', 'unmatched'] as const)
      tally.add('docs', new Map([['event.name', 'x']]), outcome);
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

  test('begins a bucket at each fifth minute, before 1970 as well', () => {
    expect([-1, 0, bucketWidthMs - 1, bucketWidthMs].map(bucketStart)).toEqual([
      -bucketWidthMs,
      0,
      0,
      bucketWidthMs,
    ]);
  });
});
