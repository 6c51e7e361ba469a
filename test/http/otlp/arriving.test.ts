/** OTLP bodies are read as they arrive, in pieces of any size, with little of them in memory. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { otlpPartsMax } from '../../../src/domain/limits.js';
import { Arriving } from '../../../src/http/otlp/arriving.js';
import { JsonValues } from '../../../src/http/otlp/json-values.js';
import {
  bodyOf,
  JSON_TYPE,
  PROTOBUF,
  type Sent,
  spanId,
  TYPES,
  type Type,
  traceId,
} from '../../support/http/telemetry.js';
import { bytes, message, readAll } from '../../support/http/telemetry-reading.js';

describe.each(TYPES)('%s', (type) => {
  const sent: Sent[] = Array.from({ length: 20 }, (_, at) => ({
    traceId: traceId(at),
    spanId: spanId(at),
    timeNs: BigInt(at) * 10n ** 17n,
    eventName: 'asked "it" \\',
    attributes: { a: 'é"\\{[,', list: ['x', 'y'], unwanted: `prompt ${'{"\\'.repeat(at)}` },
    resource: { 'service.name': `docs ${at % 3}` },
  }));

  test.each(['traces', 'logs'] as const)('%s in pieces of any size give the same records', (signal) => {
    const body = bodyOf(signal, type, sent);
    const { records } = readAll(signal, type, body, body.length);
    expect(records).toHaveLength(sent.length);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (pieceBytes) => {
        expect(readAll(signal, type, body, pieceBytes)).toMatchObject({ records, problems: [] });
      }),
      { numRuns: 30 },
    );
  });

  test('of a body with large prompts, one record is in memory, and those that are too large are not', () => {
    const prompt = 'x'.repeat(100_000);
    const many = Array.from({ length: 20 }, (_, at) => ({
      ...{ spanId: spanId(at + 1), attributes: { unwanted: prompt, a: `${at}` }, resource: { r: '1' } },
    }));
    const { records, held } = readAll('traces', type, bodyOf('traces', type, many));
    expect(records.map(({ attributes }) => attributes.get('a'))).toEqual(many.map((_, at) => `${at}`));
    expect(held).toBeGreaterThan(100_000);
    expect(held).toBeLessThan(250_000);
  });

  test.each([
    ['before its resource', 'records, resource'],
    ['behind its resource', 'resource, records'],
    ['without a resource', 'records'],
  ])('empty records %s are read some at a time', (_, order) => {
    const { records, turn } = readAll('traces', type, emptyRecords(type, 5000, order));
    expect(records).toHaveLength(5000);
    expect(turn).toBeLessThanOrEqual(500);
  });
});

describe('small parts are refused where there are too many:', () => {
  const many = otlpPartsMax + 1;
  test.each<[what: string, type: Type, body: Buffer]>([
    ['empty resources', JSON_TYPE, Buffer.from(`{"resourceSpans":[${'{},'.repeat(many)}{}]}`)],
    ['unknown members', JSON_TYPE, Buffer.from(`{${'"a":0,'.repeat(many)}"resourceSpans":[]}`)],
    ['unknown fields', PROTOBUF, Buffer.alloc(2 * many, bytes(0x78, 0))],
  ])('%s in %s', (_what, type, body) => {
    expect(() => readAll('traces', type, body)).toThrow(
      expect.objectContaining({
        status: 413,
        message: `The body has more than ${otlpPartsMax} parts; send fewer at a time.`,
      }),
    );
  });
});

test('white space takes no steps of its own', () => {
  let asked = 0;
  class Counting extends Arriving {
    override *hasMore() {
      asked++;
      return yield* super.hasMore();
    }
  }
  const arriving = new Counting();
  const peeking = new JsonValues(arriving).peek();
  for (const piece of [' '.repeat(10_000), `${' '.repeat(10_000)}x`]) {
    peeking.next();
    arriving.add(Buffer.from(piece));
  }
  expect(peeking.next()).toEqual({ done: true, value: 'x'.charCodeAt(0) });
  expect(asked).toBeLessThan(5);
});

/** A request with records of nothing, and its parts in this order. */
function emptyRecords(type: Type, count: number, order: string): Uint8Array {
  const parts = order.split(', ');
  if (type !== PROTOBUF) {
    const spans = Array.from({ length: count }, () => ({}));
    const named = { records: ['scopeSpans', [{ spans }]], resource: ['resource', {}] } as const;
    const resource = Object.fromEntries(parts.map((part) => named[part as keyof typeof named]));
    return Buffer.from(JSON.stringify({ resourceSpans: [resource] }));
  }
  const spans = Array.from({ length: count }, (): [number, Uint8Array] => [2, bytes()]);
  const fields = { records: [2, message(...spans)], resource: [1, bytes()] } as const;
  return message([
    1,
    message(...parts.map((part) => [...fields[part as keyof typeof fields]] as [number, Uint8Array])),
  ]);
}
