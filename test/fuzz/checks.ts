/** Checks after all requests were sent: counts match a recount, nothing counts twice, memory and descriptors are released. */

import type { Counts } from '../../src/domain/counting/counts.js';
import { withTotal, zeroCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { callerType } from '../../src/domain/queries/caller.js';
import { recount } from '../support/storage/ledger.js';
import { traceCaller } from './events.js';
import type { FuzzLedger } from './ledger.js';
import type { FuzzService } from './service.js';
import { type Keys, PROJECTS } from './world.js';

/** Compares the counts of the service with those of the ledger. */
export async function countProblems(
  { port }: Pick<FuzzService, 'port'>,
  { admin }: Keys,
  ledger: FuzzLedger,
): Promise<string[]> {
  const problems: string[] = [];
  const read = async (project: string, rest: string): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/analytics/${project}/assistant/${rest}`, {
      headers: { authorization: `Bearer ${admin}` },
    });
    return answer.json();
  };
  const expectSame = (what: string, found: unknown, expected: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(expected))
      problems.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  };
  const events = [...ledger.events()];
  for (const range of RANGES) {
    const [from, to] = range.map((text) => Date.parse(text));
    const expected = recount(events, { from: from ?? ALL_TIME.from, to: to ?? ALL_TIME.to });
    const query = range.length === 0 ? '' : `?dateFrom=${range[0]}&dateTo=${range[1]}`;
    expectSame(
      `counts of known queries ${query}`,
      await read(PROJECTS.events, `caller-stats${query}`),
      expected,
    );
  }
  const { total: callersTotal } = (await read(PROJECTS.events, 'callers')) as Counts;
  expectSame('the sum of callers', callersTotal, events.length);
  const counts = zeroCounts();
  for (const trace of ledger.traces()) counts[callerType(traceCaller(trace))]++;
  expectSame('counts of known traces', await read(PROJECTS.traces, 'caller-stats'), withTotal(counts));
  const { total } = (await read(PROJECTS.counted, 'caller-stats')) as Counts;
  // A request that was repeated because its connection ended may have been recorded the first time.
  if (ledger.repeats === 0) {
    expectSame('known queries that responses called new', ledger.recordedEvents, events.length);
    expectSame('other queries that responses called new', ledger.recordedOthers, total);
  } else if (ledger.recordedEvents > events.length || ledger.recordedOthers > total)
    problems.push(
      `more queries were called new than exist: ${ledger.recordedEvents} and ${ledger.recordedOthers}`,
    );
  return problems;
}

const RANGES: readonly (readonly string[])[] = [
  [],
  ['2025-11-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  ['2025-12-24T18:30:00.001Z', '2026-01-03T00:00:00.999Z'],
  ['1600-01-29T00:00:00Z', '1970-01-01T00:00:00Z'],
];

export interface Usage {
  readonly memoryBytes: number | undefined;
  readonly descriptors: number | undefined;
}

/** Fewer requests than this do not tell a leak from a heap that is not full yet. */
const leakCheckRequestsMin = 1_000_000;
/** The page caches of SQLite's two connections, which grow up to this size. */
const pageCacheBytes = 192 * 1024 * 1024;
/** Bytes that each request may leave in memory, apart from page caches. A leak takes hundreds per request. */
const grownBytesMax = 50;
const descriptorsMore = 10;

/** Bytes of memory that each request left behind; undefined except on Linux. */
export function grownBytes(before: Usage, after: Usage, requests: number): number | undefined {
  if (before.memoryBytes === undefined || after.memoryBytes === undefined) return undefined;
  return (after.memoryBytes - before.memoryBytes) / requests;
}

export function usageProblems(before: Usage, after: Usage, requests: number): string[] {
  const grown = grownBytes(before, after, requests) ?? 0;
  const problems: string[] = [];
  if (requests >= leakCheckRequestsMin && grown > grownBytesMax + pageCacheBytes / requests)
    problems.push(`the server's memory grew by ${Math.round(grown)} bytes with each request`);
  if ((after.descriptors ?? 0) > (before.descriptors ?? 0) + descriptorsMore)
    problems.push(`the server had ${before.descriptors} files open, and now ${after.descriptors}`);
  return problems;
}

/**
 * Warnings that the server may log: fuzzing sends many requests and spans that it must refuse, Node may be an old one, and beside
 * other work the server may be held up so long that it answers 503.
 */
const EXPECTED_LOG =
  /"level":40,.*("status":4\d\d,.*"msg":"request refused"|"msg":"((spans|log records) were rejected|records match no rule)|"msg":"queries of a time before 2000 were recorded|"msg":"Node: version |"msg":"requests are refused: the server has too much to do")/s;

/** Stops the server and verifies its counters. */
export async function endProblems(service: FuzzService): Promise<string[]> {
  const problems = service.alive ? [] : ['the server is gone'];
  const { status, stderr } = await service.stop();
  if (status !== 0) problems.push(`the server ended with ${status}`);
  const unexpected = stderr.split('\n').filter((line) => line !== '' && !EXPECTED_LOG.test(line));
  problems.push(...unexpected.slice(0, 10).map((line) => `the server logged: ${line.slice(0, 1000)}`));
  const verified = await service.verify();
  if (verified.status !== 0) problems.push(`verify: ${verified.stdout}${verified.stderr}`);
  return problems;
}
