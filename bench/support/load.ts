/** Puts load on a server process for a while and says what it did, by the wall and by its own processor time. */
import autocannon from 'autocannon';
import { cpuSecondsOf } from './processor.js';
import type { Server } from './workspace.js';

export interface Load {
  readonly requestsPerSecond: number;
  /** Processor time of the server process, user and system, for one request. Undefined where there is no /proc. */
  readonly cpuUsPerRequest: number | undefined;
  /** Share of one core that the server used: well below 1, and the generator, not the server, was the limit. */
  readonly busy: number | undefined;
}

const connections = 10;

/** Asks for the paths in turn, on each connection, for `seconds`. Throws where any answer is not 200. */
export async function load(
  { url, pid }: Server,
  paths: readonly string[],
  headers: Readonly<Record<string, string>>,
  seconds: number,
): Promise<Load> {
  const cpuBefore = cpuSecondsOf(pid);
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 100,
    requests: paths.map((path) => ({ method: 'GET' as const, path, headers: { ...headers } })),
  });
  const cpuAfter = cpuSecondsOf(pid);
  const answered = result['2xx'];
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0 || answered === 0)
    throw new Error(`${url}: ${failed} requests failed, ${answered} were answered`);
  const wallSeconds = (result.finish.getTime() - result.start.getTime()) / 1000;
  const cpuSeconds = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore;
  return {
    requestsPerSecond: answered / wallSeconds,
    cpuUsPerRequest: cpuSeconds === undefined ? undefined : (cpuSeconds * 1e6) / answered,
    busy: cpuSeconds === undefined ? undefined : cpuSeconds / wallSeconds,
  };
}
