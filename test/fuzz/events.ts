/** Known queries. A number always stands for the same query, so acknowledged queries are remembered by number. */
import type { Query } from '../../src/domain/queries/query.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { spanId, traceId } from '../support/http/telemetry.js';
import type { Random } from './random.js';

/** The number of known queries. A long run sends most of them more than once. */
export const eventNumbers = 2 ** 21;

const callers = ['web', 'api', 'slack', 'web', 'sdk-python', 'discord.bot_2', 'api', 'web', 'a'.repeat(64)];

const ids: readonly ((number: number) => string)[] = [
  (number) => `0190a8b2-7c3e-7d4f-8a5b-${String(number).padStart(12, '0')}`,
  (number) => `0190A8B2-7C3E-7D4F-8A5B-${String(number).padStart(12, '0')}`,
  (number) => `${number}`,
  (number) => `é😀\u2028 ${number}`,
  (number) => `"\\/\b\t${number}\u007f`,
  (number) => `${'x'.repeat(120)}${number}`,
];

/** Long before the clock of any machine that runs this. */
const startMs = Date.UTC(2025, 10, 1);
const moments: readonly ((number: number) => number)[] = [
  (number) => startMs + ((number * 7919) % (300 * dayMs)),
  (number) => startMs + (number % 300) * dayMs,
  (number) => startMs + (number % 300) * dayMs - 1,
  (number) => -(number % 1000),
  (number) => Date.UTC(1600, 1, 29) + number,
];

export function makeQuery(number: number): Query {
  return {
    id: ids[number % ids.length]?.(number) ?? '',
    caller: callers[(number * 31) % callers.length] ?? '',
    occurredAt: moments[number % moments.length]?.(number) ?? 0,
  };
}

/** Writes a time in one of the many forms of RFC 3339. */
export function writeTime(timeMs: number, random: Random): string {
  const minutes = random.oneIn(2) ? 0 : random.int(2 * 1439 + 1) - 1439;
  const text = new Date(timeMs + minutes * 60_000).toISOString();
  const more = random.oneIn(3) ? '9'.repeat(random.int(30)) : '';
  const clock = random.oneIn(4) ? text.toLowerCase() : text;
  const ahead = Math.abs(minutes);
  const offset = `${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`;
  return minutes === 0 && random.oneIn(2)
    ? `${clock.slice(0, -1)}${more}Z`
    : `${clock.slice(0, -1)}${more}${offset}`;
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

/** The number of known traces. */
export const traceNumbers = 4096;

/** The span of this trace that counts as a query, as an assistant's instrumentation sends it. */
export function makeSpan(number: number) {
  return {
    // Trace ids are padded with a hexadecimal digit, so they differ only if all numbers have as many digits.
    traceId: traceId(traceNumbers + number),
    spanId: spanId(number % 7),
    timeNs: BigInt(startMs + number * 1000) * 1_000_000n,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'caller_stats.caller': traceCaller(number) },
  };
}

export function traceCaller(number: number): string {
  return callers[number % callers.length] ?? '';
}
