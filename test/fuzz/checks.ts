/** What must hold when all is sent: the counts are those of a recount, nothing counts twice, nothing grows. */

import type { Counts } from '../../src/domain/counting/counts.js';
import { withTotal } from '../../src/domain/counting/counts.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { callerType } from '../../src/domain/queries/caller.js';
import { recount } from '../support/ledger.js';
import { callerOfTrace } from './events.js';
import type { FuzzLedger } from './ledger.js';
import type { FuzzService } from './service.js';
import { type Keys, PROJECTS } from './world.js';

/** What is wrong with the counts that the service answers; nothing where they are right. */
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
  const hold = (what: string, found: unknown, expected: unknown): void => {
    if (JSON.stringify(found) !== JSON.stringify(expected))
      problems.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
  };
  const events = [...ledger.events()];
  for (const range of RANGES) {
    const [from, to] = range.map((text) => Date.parse(text));
    const expected = recount(events, { from: from ?? ALL_TIME.from, to: to ?? ALL_TIME.to });
    const query = range.length === 0 ? '' : `?dateFrom=${range[0]}&dateTo=${range[1]}`;
    hold(`counts of known queries ${query}`, await read(PROJECTS.events, `caller-stats${query}`), expected);
  }
  const { total: ofCallers } = (await read(PROJECTS.events, 'callers')) as Counts;
  hold('the sum of callers', ofCallers, events.length);
  const counts = { web: 0, api: 0, other: 0 };
  for (const trace of ledger.traces()) counts[callerType(callerOfTrace(trace))]++;
  hold('counts of known traces', await read(PROJECTS.traces, 'caller-stats'), withTotal(counts));
  const { total } = (await read(PROJECTS.counted, 'caller-stats')) as Counts;
  // What was sent twice, because a connection ended before the answer, is acknowledged as a duplicate.
  if (ledger.sentTwice === 0) {
    hold('known queries that answers called new', ledger.recordedEvents, events.length);
    hold('other queries that answers called new', ledger.recordedOthers, total);
  } else if (ledger.recordedEvents > events.length || ledger.recordedOthers > total)
    problems.push(`more was called new than there is: ${ledger.recordedEvents} and ${ledger.recordedOthers}`);
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

/** From so many requests on memory is held to a bound: below, what a heap happens to keep is more than a leak. */
const memoryHeldFrom = 1_000_000;
/** What SQLite keeps of the file's pages at most, with its two connections together. It grows until there is as much. */
const pageCacheBytes = 192 * 1024 * 1024;
/** Bytes that each request may leave behind beside that. What is kept of a request for good, by mistake, takes hundreds. */
const grownBytesMax = 50;
const descriptorsMore = 10;

/** Bytes of memory that each of so many requests left behind; undefined where the system does not tell. */
export function grownBytes(before: Usage, after: Usage, requests: number): number | undefined {
  if (before.memoryBytes === undefined || after.memoryBytes === undefined) return undefined;
  return (after.memoryBytes - before.memoryBytes) / requests;
}

export function usageProblems(before: Usage, after: Usage, requests: number): string[] {
  const grown = grownBytes(before, after, requests) ?? 0;
  const problems: string[] = [];
  if (requests >= memoryHeldFrom && grown > grownBytesMax + pageCacheBytes / requests)
    problems.push(`the server's memory grew by ${Math.round(grown)} bytes with each request`);
  if ((after.descriptors ?? 0) > (before.descriptors ?? 0) + descriptorsMore)
    problems.push(`the server had ${before.descriptors} files open, and now ${after.descriptors}`);
  return problems;
}

/** Stops the server, and has everything recounted from the recorded queries. */
export async function endProblems(service: FuzzService): Promise<string[]> {
  const problems: string[] = [];
  if (!service.alive) problems.push('the server is gone');
  const status = await service.stop();
  if (status !== 0) problems.push(`the server ended with ${status}`);
  problems.push(...service.complaints.slice(0, 10).map((line) => `the server said: ${line.slice(0, 1000)}`));
  try {
    await service.run('verify');
  } catch (error) {
    problems.push((error as Error).message);
  }
  return problems;
}
