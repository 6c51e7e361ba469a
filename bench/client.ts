/**
 * The cost of recording for the host process: a small server without a recorder, with one whose server responds, and
 * with one whose server hangs and whose queue is full. Measured alternately over the same connections.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { RecorderStats } from '../client/src/index.js';
import { type Contestant, hold, ratio } from './support/contest.js';
import type { Figure, Report } from './support/report.js';
import { Database } from './support/service.js';
import type { Sample } from './support/traffic.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface ClientOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly note: (line: string) => void;
}

const connections = 16;

const bare = 'no recorder';
const hosts = ['recorder, server answers', 'recorder, server never answers'] as const;

interface Seen {
  readonly asked: number;
  readonly dropped: number;
  readonly rssBytes: number;
  readonly stats?: RecorderStats;
}

export async function benchClient(
  workspace: Workspace,
  { rounds, seconds, note }: ClientOptions,
): Promise<Report> {
  const database = await Database.create(workspace, 'client');
  const key = await database.createAdminKey();
  const service = await database.serve();
  const start = (...args: string[]) => workspace.start([...programArguments('recording-host'), ...args]);
  const silent = await start('silent');
  const servers: readonly (readonly [string, Server])[] = [
    [bare, await start('none')],
    [hosts[0], await start(service.url, key)],
    [hosts[1], await start(silent.url, key)],
  ];
  const contestants: Contestant[] = servers.map(([name, server]) => ({
    name,
    target: { servers: [server], databasePid: server.pid, headers: {} },
    connections,
    next: () => ({ method: 'GET', path: '/' }),
  }));
  const samples = await hold(contestants, { rounds, seconds, note });
  const seen = new Map<string, Seen>();
  for (const [name, { url }] of servers) {
    seen.set(name, (await (await fetch(`${url}/seen`)).json()) as Seen);
  }
  for (const { asked, dropped, stats } of seen.values()) {
    if (stats === undefined) continue;
    deepStrictEqual(dropped, stats.dropped, 'drops that were told, and drops that were counted');
    deepStrictEqual(stats.queued + stats.recorded + stats.duplicates + dropped, asked, 'what became of all');
  }
  const of = (name: string, value: (sample: Sample) => number) => ratio(samples, name, bare, value);
  const rss = (name: string) => seen.get(name)?.rssBytes ?? Number.NaN;
  const ratios: Figure[] = hosts.flatMap((name) => [
    { what: `${name}: median latency over bare`, values: of(name, ({ p50Ms }) => p50Ms) },
    { what: `${name}: p99 latency over bare`, values: of(name, ({ p99Ms }) => p99Ms) },
    {
      what: `${name}: processor time over bare`,
      values: of(name, ({ serversUs }) => serversUs ?? Number.NaN),
    },
    { what: `${name}: resident memory over bare`, values: [rss(name) / rss(bare)] },
  ]);
  const absolutes: Figure[] = servers.flatMap(([name]) => [
    { what: `${name}: rate`, unit: 'requests/s', values: listValues(name, (one) => one.requestsPerSecond) },
    { what: `${name}: median latency`, unit: 'ms', values: listValues(name, ({ p50Ms }) => p50Ms) },
    { what: `${name}: p99 latency`, unit: 'ms', values: listValues(name, ({ p99Ms }) => p99Ms) },
    { what: `${name}: resident memory`, unit: 'MB', values: [rss(name) / 1e6] },
    { what: `${name}: questions`, unit: 'questions', values: [seen.get(name)?.asked ?? Number.NaN] },
    { what: `${name}: dropped`, unit: 'questions', values: [seen.get(name)?.dropped ?? 0] },
  ]);
  return {
    name: 'client',
    method:
      `A bare \`node:http\` server that sends the same bytes over ${connections} connections, alternating between no ` +
      'recorder and one that records each request with a queue of 10,000: once with a caller-stats server on the same ' +
      'machine, and once with one that never responds. The benchmark checks that every query was recorded, is queued, ' +
      'or was reported as dropped.',
    ratios,
    absolutes,
  };

  function listValues(name: string, value: (sample: Sample) => number): number[] {
    return (samples.get(name) ?? []).map(value);
  }
}
