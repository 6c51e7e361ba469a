/** Puts load on a server process and measures wall time and the server's processor time. */
import autocannon from 'autocannon';
import { readCpuSeconds } from './processor.js';
import type { Server } from './workspace.js';

export interface Load {
  readonly requestsPerSecond: number;
  /** Processor time of the server process per request, user and system. Undefined without /proc. */
  readonly cpuUsPerRequest: number | undefined;
  /** Share of one core that the server used. Well below 1, the load generator was the limit. */
  readonly busy: number | undefined;
}

/** Connections by default. */
export const fewConnections = 10;

/** Requests the paths in turn on each connection for `seconds`. Throws unless every status is 200. */
export async function load(
  { url, pid }: Server,
  paths: readonly string[],
  headers: Readonly<Record<string, string>>,
  seconds: number,
  connections = fewConnections,
): Promise<Load> {
  const cpuBefore = readCpuSeconds(pid);
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 100,
    requests: paths.map((path) => ({ method: 'GET' as const, path, headers: { ...headers } })),
  });
  const cpuAfter = readCpuSeconds(pid);
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
