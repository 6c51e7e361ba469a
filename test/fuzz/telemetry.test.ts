/** Requests of OTLP as OpenTelemetry's encoders write them, with bytes changed: read, or refused in words, never stuck. */
import { expect, test } from 'vitest';
import { HttpError } from '../../src/http/errors.js';
import { bodyOf, type SignalName, TYPES, type Type } from '../support/telemetry.js';
import { read } from '../support/telemetry-reading.js';
import { newSeed, randomCases } from '../support/volume.js';
import { spanOf } from './events.js';
import { Random } from './random.js';

const seed = newSeed('fuzz/telemetry');
const cases = randomCases(5000);

/** The bytes, cut or not, with up to three of them changed. */
function changed(whole: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(whole.subarray(0, random.oneIn(4) ? random.int(whole.length) : whole.length));
  for (let left = random.int(4); left > 0 && bytes.length > 0; left--)
    bytes[random.int(bytes.length)] = random.pick([0, 0x7f, 0x80, 0xff, random.int(256)]);
  return bytes;
}

/** Whether they were read. What is no JSON is refused before it gets to the reader. */
function isRead(signal: SignalName, type: Type, bytes: Buffer): boolean {
  try {
    read(signal, type, bytes);
    return true;
  } catch (error) {
    const isOwn =
      error instanceof HttpError && error.status === 400 && /^The body is not .+\.$/s.test(error.message);
    if (isOwn || error instanceof SyntaxError) return false;
    throw new Error(`at ${bytes.toString('hex')}`, { cause: error });
  }
}

const KINDS = TYPES.flatMap((type) => (['traces', 'logs'] as const).map((signal) => [signal, type] as const));

test.each(KINDS)('%s in %s', (signal, type) => {
  const random = new Random(seed, 0);
  const whole = Buffer.from(bodyOf(signal, type, [1, 2, 3].map(spanOf)));
  expect(read(signal, type, whole).length).toBe(3);
  const seen = { read: 0, refused: 0 };
  for (let left = cases; left > 0; left--)
    seen[isRead(signal, type, changed(whole, random)) ? 'read' : 'refused']++;
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(cases / 50);
});
