/** OTLP bodies with millions of parts are refused before they block the event loop. */
import { describe, expect, test } from 'vitest';
import { otlpPartsMax } from '../../../src/domain/limits.js';
import { HttpError } from '../../../src/http/server/errors.js';
import { PROTOBUF, type SignalName } from '../../support/http/telemetry.js';
import { message, read } from '../../support/http/telemetry-reading.js';

const text = (words: string) => Buffer.from(words);
const none = new Uint8Array();
const wanted = message([9, message([1, text('a')], [2, message([1, text('b')])])]);
const field = (number: number, bytes: Uint8Array) => message([number, bytes]);
const repeated = (bytes: Uint8Array, times: number) => Buffer.alloc(bytes.length * times, bytes);

/** A request with one scope, which has these bytes. */
const wrapScope = (bytes: Uint8Array) => field(1, field(2, bytes));

function readStatus(signal: SignalName, body: Uint8Array): number {
  try {
    read(signal, PROTOBUF, body);
    return 200;
  } catch (error) {
    if (error instanceof HttpError) return error.status;
    throw error;
  }
}

describe('a body with too many fields is refused with 413', () => {
  test.each<[what: string, body: Uint8Array]>([
    ['resources', repeated(field(1, none), otlpPartsMax + 1)],
    ['scopes', field(1, repeated(field(2, none), otlpPartsMax + 1))],
    ['records', wrapScope(repeated(field(2, none), otlpPartsMax + 1))],
    ['attributes of one record', wrapScope(field(2, repeated(field(9, none), otlpPartsMax + 1)))],
    ['unknown fields', repeated(field(15, none), otlpPartsMax + 1)],
    ['records that may be queries', wrapScope(repeated(field(2, wanted), otlpPartsMax / 10))],
  ])('%s', (_what, body) => {
    expect(readStatus('traces', body)).toBe(413);
    expect(body.length).toBeLessThan(10 * 1024 * 1024);
  });
});

test('the largest body of an exporter is read: 8,192 spans with 20 attributes each', () => {
  const unwanted = field(9, message([1, text('unwanted')], [2, message([1, text('x'.repeat(20))])]));
  const span = Buffer.concat([repeated(unwanted, 20), wanted]);
  expect(readStatus('traces', wrapScope(repeated(field(2, span), 8_192)))).toBe(200);
});
