/** Queries by number: whoever sends a number sends the same query, so what was acknowledged can be counted by numbers. */
import type { Query } from '../../src/domain/queries/query.js';
import { spanId, traceId } from '../support/telemetry.js';
import type { Random } from './random.js';

/** As many as there are; a long run sends most of them more than once. */
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

/** 2025-11-01T00:00:00Z, long before the clock of any machine that runs this. */
const startMs = Date.UTC(2025, 10, 1);
const dayMs = 86_400_000;
const moments: readonly ((number: number) => number)[] = [
  (number) => startMs + ((number * 7919) % (300 * dayMs)),
  (number) => startMs + (number % 300) * dayMs,
  (number) => startMs + (number % 300) * dayMs - 1,
  (number) => -(number % 1000),
  (number) => Date.UTC(1600, 1, 29) + number,
];

/** The query of this number, always the same. */
export function eventOf(number: number): Query {
  return {
    id: ids[number % ids.length]?.(number) ?? '',
    caller: callers[(number * 31) % callers.length] ?? '',
    occurredAt: moments[number % moments.length]?.(number) ?? 0,
  };
}

/** One of the many ways in which RFC 3339 writes a moment. */
export function spell(timeMs: number, random: Random): string {
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

/** As many traces as there are. */
export const traceNumbers = 4096;

/** The span of this trace that is a query, as an assistant's own instrumentation would send it. */
export function spanOf(number: number) {
  return {
    // All of as many digits: what is before them is filled up with one that may stand in them as well.
    traceId: traceId(traceNumbers + number),
    spanId: spanId(number % 7),
    timeNs: BigInt(startMs + number * 1000) * 1_000_000n,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'caller_stats.caller': callerOfTrace(number) },
  };
}

export function callerOfTrace(number: number): string {
  return callers[number % callers.length] ?? '';
}
