/** Invalid OTLP is refused with an explanation. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../../src/http/otlp/json.js';
import { TRACES } from '../../../src/http/otlp/signals.js';
import { HttpError } from '../../../src/http/server/errors.js';
import { bodyOf, JSON_TYPE, PROTOBUF, type Sent, traceId } from '../../support/http/telemetry.js';
import { bytes, message, read, wants } from '../../support/http/telemetry-reading.js';

function refusal(readIt: () => unknown): string {
  try {
    readIt();
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return error.message;
    throw error;
  }
  return 'not refused';
}

describe('invalid JSON is refused with the position of the problem', () => {
  const spans = (...list: unknown[]) => ({ resourceSpans: [{ scopeSpans: [{ spans: list }] }] });
  const valued = (value: unknown) => spans({ attributes: [{ key: 'a', value }] });
  const span = 'resourceSpans[0].scopeSpans[0].spans[0]';
  const value = `${span}.attributes[0].value`;
  const notWhole = 'is not a whole number; send it as a string of digits';
  const noTime = 'is not a time in nanoseconds since 1970';
  test.each<[body: unknown, problem: string]>([
    [[], 'it is not an object'],
    ['x', 'it is not an object'],
    [null, 'it is not an object'],
    [{ resourceSpans: {} }, 'resourceSpans is not an array'],
    [{ resourceSpans: [null] }, 'resourceSpans[0] is not an object'],
    [{ resourceSpans: [{ resource: [] }] }, 'resourceSpans[0].resource is not an object'],
    [{ resourceSpans: [{}, { scopeSpans: 1 }] }, 'resourceSpans[1].scopeSpans is not an array'],
    [spans({}, 0), 'resourceSpans[0].scopeSpans[0].spans[1] is not an object'],
    [spans({ traceId: 1 }), `${span}.traceId is not a string`],
    [spans({ spanId: {} }), `${span}.spanId is not a string`],
    [spans({ attributes: 'x' }), `${span}.attributes is not an array`],
    [spans({ attributes: [{ key: 1 }] }), `${span}.attributes[0].key is not a string`],
    [valued('x'), `${span}.attributes[0].value is not an object`],
    [valued({ stringValue: 1 }), `${span}.attributes[0].value.stringValue is not a string`],
    [valued({ boolValue: 1 }), `${span}.attributes[0].value.boolValue is neither true nor false`],
    [valued({ intValue: 1.5 }), `${value}.intValue ${notWhole}`],
    [valued({ intValue: 2 ** 53 }), `${value}.intValue ${notWhole}`],
    [valued({ arrayValue: { values: [{}, 1] } }), `${value}.arrayValue.values[1] is not an object`],
    [spans({ startTimeUnixNano: 'x' }), `${span}.startTimeUnixNano ${notWhole}`],
    [spans({ startTimeUnixNano: -1 }), `${span}.startTimeUnixNano ${noTime}`],
    [spans({ startTimeUnixNano: String(2n ** 64n) }), `${span}.startTimeUnixNano ${noTime}`],
  ])('%j', (body, problem) => {
    const reading = { wants, onRecord: () => {} };
    expect(refusal(() => readJson(body, TRACES, reading))).toBe(`The body is not JSON of OTLP: ${problem}.`);
  });
});

const spanWith = (...fields: [number, Uint8Array][]) =>
  message([1, message([2, message([2, message(...fields)])])]);
const attribute = (value: Uint8Array) => spanWith([9, message([1, Buffer.from('a')], [2, value])]);

describe('invalid protobuf is refused', () => {
  test.each<[what: string, body: Uint8Array]>([
    ['JSON', Buffer.from('{"resourceSpans":[]}')],
    ['a message that is cut', bytes(0x0a, 5, 0)],
    ['a length beyond 32 bits', bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f)],
    ['field 0', bytes(0x02, 0)],
    ['an end without a group', bytes(0x0c)],
    // The rest would be a span.
    ['a field that is longer than its message', bytes(0x0a, 2, 0x12, 4, 0x12, 2, 0x4a, 0)],
    ['a time that is cut', spanWith([9, bytes()]).fill(0x39, -2)],
    ['a key that is not UTF-8', spanWith([9, message([1, bytes(0xff)])])],
    ['a value that is not UTF-8', attribute(message([1, bytes(0xc3)]))],
    ['nested groups', new Uint8Array(100_000).fill(0x0b)],
    ['nested groups in a value', attribute(message([6, bytes()], [5, new Uint8Array(1000).fill(0x0b)]))],
  ])('%s', (_what, body) => {
    expect(refusal(() => read('traces', PROTOBUF, body))).toMatch(
      /^The body is not a protobuf message of OTLP: .+\.$/,
    );
  });
});

describe('any input is either read or refused', () => {
  const sent: Sent[] = [
    { timeNs: 1_234_567_890n, attributes: { a: 'é', b: [1, 2], c: true, d: -7 }, resource: { r: '1' } },
    { traceId: traceId(2), attributes: { a: ['x', 'y'] }, eventName: 'e' },
  ];

  test.each(['traces', 'logs'] as const)('protobuf of %s, cut or with changed bytes', (signal) => {
    const seen = { read: 0, refused: 0 };
    const valid = bodyOf(signal, PROTOBUF, sent);
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.nat({ max: valid.length }).map((length) => valid.subarray(0, length)),
      fc
        .array(fc.tuple(fc.nat({ max: valid.length - 1 }), fc.nat({ max: 255 })), {
          minLength: 1,
          maxLength: 4,
        })
        .map((changes) => {
          const changed = Uint8Array.from(valid);
          for (const [at, value] of changes) changed[at] = value;
          return changed;
        }),
    );
    fc.assert(
      fc.property(anything, (body) => {
        seen[refusal(() => read(signal, PROTOBUF, body)) === 'not refused' ? 'read' : 'refused']++;
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });

  test.each(['traces', 'logs'] as const)('JSON of %s, with any value replaced', (signal) => {
    const seen = { read: 0, refused: 0 };
    const valid = JSON.parse(Buffer.from(bodyOf(signal, JSON_TYPE, sent)).toString()) as unknown;
    const places = placesIn(valid);
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), (place, value) => {
        const body = Buffer.from(JSON.stringify(replaced(valid, place, value)));
        seen[refusal(() => read(signal, JSON_TYPE, body)) === 'not refused' ? 'read' : 'refused']++;
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });
});

/** The path of every value inside a JSON value. */
function placesIn(value: unknown): (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[], ...inner.flatMap(([name, one]) => placesIn(one).map((place) => [name, ...place]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}
