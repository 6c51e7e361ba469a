/**
 * Events to record, reproducible from a seed. Generated one by one, because five million objects would measure the
 * garbage collector.
 */
import { open } from 'node:fs/promises';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import { minuteMs } from '../../src/domain/time/duration.js';

export interface Event {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: number;
}

export const CALLERS = ['web', 'api', 'slack', 'sdk-typescript'] as const;

/** The year over which the events are spread. */
export const YEAR: DateRange = { from: Date.UTC(2025, 0, 1), to: Date.UTC(2026, 0, 1) };

/** A seeded generator of uniform numbers in [0, 1): mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `count` events at random milliseconds of a range, oldest first, like a log. */
export function* makeEvents(count: number, seed: number, { from, to } = YEAR): Generator<Event> {
  const random = randomFrom(seed);
  const times = Float64Array.from({ length: count }, () => Math.floor(from + random() * (to - from))).sort();
  for (const occurredAt of times) {
    const caller = CALLERS[Math.floor(random() * CALLERS.length)] ?? 'web';
    yield { id: uuidV7(occurredAt, random), caller, occurredAt };
  }
}

/**
 * A UUIDv7 (RFC 9562, section 5.7), built from a table of bytes for speed: an import reads ten million of them as they
 * are generated.
 */
export function uuidV7(timeMs: number, random: () => number): string {
  const time = timeMs.toString(16).padStart(12, '0');
  const [a, b, c] = [random() * 2 ** 32, random() * 2 ** 32, random() * 2 ** 32];
  const version = byte(0x70 | (byteAt(a, 3) & 0x0f)) + byte(byteAt(a, 2));
  const variant = byte(0x80 | (byteAt(a, 1) & 0x3f)) + byte(byteAt(a, 0));
  const node =
    byte(byteAt(b, 0)) + byte(byteAt(b, 1)) + byte(byteAt(b, 2)) + byte(byteAt(c, 0)) + byte(byteAt(c, 1));
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${node}${byte(byteAt(c, 2))}`;
}

const BYTES = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'));

const byte = (value: number): string => BYTES[value] ?? '';

/** A byte of a number below 2 ** 32, least significant first. */
const byteAt = (number: number, at: number): number => (number >>> (8 * at)) & 0xff;

/** An event as a line of a file. */
type ToLine = (event: Event) => string;

/** The format of `caller-stats import`. */
export const toNdjson: ToLine = ({ id, caller, occurredAt }) =>
  `{"id":"${id}","caller":"${caller}","occurredAt":"${toIso(occurredAt)}"}\n`;

/** A CSV row of project, id, time and caller. */
export const toCsv: ToLine = ({ id, caller, occurredAt }) => `1,${id},${occurredAt},${caller}\n`;

let minute = Number.NaN;
let textOfMinute = '';

/** An RFC 3339 time. The events are in order, so each minute is formatted only once. */
function toIso(timeMs: number): string {
  if (Math.floor(timeMs / minuteMs) !== minute) {
    minute = Math.floor(timeMs / minuteMs);
    textOfMinute = new Date(timeMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm:'.length);
  }
  const inMinute = String(timeMs - minute * minuteMs).padStart('ssSSS'.length, '0');
  return `${textOfMinute}${inMinute.slice(0, 2)}.${inMinute.slice(2)}Z`;
}

/** Lines for `caller-stats import` in chunks of about a megabyte. */
export function* ndjsonBatches(events: Iterable<Event>): Generator<string> {
  for (const some of batchesOf(events)) yield some.map(toNdjson).join('');
}

export async function writeNdjson(file: string, events: Iterable<Event>): Promise<void> {
  await writeEvents(events, [{ file, toLine: toNdjson }]);
}

/** Writes the same events into several new files, each in its own format. */
export async function writeEvents(
  events: Iterable<Event>,
  files: readonly { readonly file: string; readonly toLine: ToLine }[],
): Promise<void> {
  const opened = await Promise.all(
    files.map(async ({ file, toLine }) => ({ toLine, handle: await open(file, 'wx') })),
  );
  try {
    for (const some of batchesOf(events)) {
      for (const { handle, toLine } of opened) await handle.write(some.map(toLine).join(''));
    }
  } finally {
    for (const { handle } of opened) await handle.close();
  }
}

function* batchesOf(events: Iterable<Event>): Generator<Event[]> {
  let batch: Event[] = [];
  for (const event of events) {
    if (batch.push(event) < 10_000) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}
