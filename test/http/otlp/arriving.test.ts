/** OTLP bodies are read as they arrive, in pieces of any size, with little of them in memory. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { otlpPartsMax, otlpRecordBytesMax, otlpTextBytesMax } from '../../../src/domain/limits.js';
import { Arriving } from '../../../src/http/otlp/arriving.js';
import { JsonValues, SyntaxProblem } from '../../../src/http/otlp/json-values.js';
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
    const { records, turn } = readAll('traces', type, sameRecords(type, 5000, order));
    expect(records).toHaveLength(5000);
    expect(turn).toBeLessThanOrEqual(500);
  });

  test('texts of records that wait for their resource are counted until it is there', () => {
    const text = 'x'.repeat(10_000);
    const heldOf = (order: string) => readAll('traces', type, sameRecords(type, 50, order, text, 2)).held;
    expect(heldOf('resource, records')).toBeLessThan(100_000);
    const held = heldOf('records, resource');
    expect(held).toBeGreaterThan(2 * 50 * text.length);
    expect(held).toBeLessThan(2 * 75 * text.length);
  });

  test('neither long ids nor names of events are kept', () => {
    const long = 'ab'.repeat(100_000);
    const cut = `${long.slice(0, 64)}\ud800`;
    const sent = { traceId: long, spanId: long, parentSpanId: long, eventName: long };
    for (const signal of ['traces', 'logs'] as const) {
      const [record] = readAll(signal, type, bodyOf(signal, type, [sent])).records;
      const { traceId = long, spanId = long, parentSpanId = long, attributes = new Map() } = record ?? {};
      for (const id of [traceId, spanId]) expect(id).toBe(cut);
      expect(parentSpanId).toBe(signal === 'traces' ? cut : '');
      expect(attributes.get('event.name')?.length).toBe(signal === 'logs' ? otlpTextBytesMax + 1 : undefined);
    }
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

/** The value, or undefined for what is not JSON. */
function parseValue(bytes: Buffer): unknown {
  const arriving = new Arriving();
  arriving.add(bytes);
  arriving.end();
  const reading = new JsonValues(arriving).value(otlpRecordBytesMax);
  try {
    for (let step = reading.next(); ; step = reading.next()) if (step.done) return step.value;
  } catch (error) {
    if (error instanceof SyntaxProblem) return undefined;
    throw error;
  }
}

describe('a large value is parsed in parts', () => {
  const large = 'é\\n\\u2603\\ud83d\\ude00"\\\\'.replaceAll('"', '\\"').repeat(15_000);

  test.each([
    ['one text', `{"a":["${large}"]}`],
    ['many texts', `[${`{"a":"${large.slice(0, 9)}"},`.repeat(20_000)}1]`],
    ['nested ones', `${'['.repeat(400)}"${large}"${']'.repeat(400)}`],
    ['an object with names that mean something', `{"__proto__":"${large}","a":1,"a":2}`],
  ])('of %s', (_what, json) => {
    const expected: unknown = JSON.parse(json);
    const parsed = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parsed.mockRestore());
    expect(parseValue(Buffer.from(json))).toEqual(expected);
    for (const [text] of parsed.mock.calls) expect(text.length).toBeLessThan(300_000);
  });

  const piece = fc.constantFrom(
    '"',
    '\\',
    '\\u00',
    '\\"',
    ',',
    ':',
    '[',
    ']',
    '{',
    '}',
    '1',
    ' ',
    '{"a":',
    'null',
  );
  test('or refused, as it would be at once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), fc.constantFrom('[', '{"b":'), (pieces, open) => {
        const json = `${open}"${large}${pieces.join('')}"${open === '[' ? ']' : '}'}`;
        let expected: unknown;
        try {
          expected = JSON.parse(json);
        } catch {}
        // What follows a value is not its concern.
        if (expected !== undefined || !/[\]}]/.test(pieces.join('')))
          expect(parseValue(Buffer.from(json))).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  test('and its invalid bytes make only the texts unreadable that they are in', () => {
    const bytes = Buffer.concat([Buffer.from(`{"a":"${large}`), Buffer.of(0xff), Buffer.from('","b":"c"}')]);
    const { a = '', b } = parseValue(bytes) as Record<string, string>;
    expect([a.at(-1), b]).toEqual(['\ud800', 'c']);
    expect(a.slice(0, -1)).toBe(JSON.parse(`"${large}"`));
  });
});

/** A request with equal records, each with this text, and the parts of its resources in this order. */
function sameRecords(type: Type, count: number, order: string, text = '', resources = 1): Uint8Array {
  const parts = order.split(', ');
  if (type !== PROTOBUF) {
    const span = text === '' ? {} : { attributes: [{ key: 'a', value: { stringValue: text } }] };
    const spans = Array.from({ length: count }, () => span);
    const named = { records: ['scopeSpans', [{ spans }]], resource: ['resource', {}] } as const;
    const resource = Object.fromEntries(parts.map((part) => named[part as keyof typeof named]));
    return Buffer.from(JSON.stringify({ resourceSpans: Array(resources).fill(resource) }));
  }
  const attribute = message([1, Buffer.from('a')], [2, message([1, Buffer.from(text)])]);
  const span = text === '' ? bytes() : message([9, attribute]);
  const spans = Array.from({ length: count }, (): [number, Uint8Array] => [2, span]);
  const fields = { records: [2, message(...spans)], resource: [1, bytes()] } as const;
  const resource = parts.map((part) => [...fields[part as keyof typeof fields]] as [number, Uint8Array]);
  return message(...Array.from({ length: resources }, (): [number, Uint8Array] => [1, message(...resource)]));
}
