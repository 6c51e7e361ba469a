/** The service on PostgreSQL against a server that is written by hand, on the same PostgreSQL server. They take turns in every round. */
import { deepStrictEqual } from 'node:assert/strict';
import { type Contestant, type ContestOptions, hold, processorUs, ratio } from './support/contest.js';
import { YEAR } from './support/events.js';
import { checkpoint, createDatabase, readVersion, vacuum, withPostgres } from './support/postgres.js';
import { LiveTraffic } from './support/recording.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { type Message, type Sample, send, type Target } from './support/traffic.js';
import { programArguments, type Workspace } from './support/workspace.js';

const batchQueries = 1000;
/** Queries that both sides have before they are measured, as arrays. */
const arraysBefore = 100;

/** What both sides are asked to do. The aims are those of the rate. */
const CONTESTS = [
  { what: 'single queries over 64 connections', connections: 64, queries: 1, aim: 0.9 },
  { what: 'single queries over one connection', connections: 1, queries: 1, aim: 0.5 },
  { what: 'arrays of 1,000 over 12 connections', connections: 12, queries: batchQueries, aim: undefined },
  { what: 'counts between milliseconds over 12 connections', connections: 12, queries: 0, aim: undefined },
] as const;

export function benchHandWritten(workspace: Workspace, options: ContestOptions): Promise<Report> {
  return withPostgres(async (server) => {
    const ourUrl = await createDatabase(server, 'ours');
    const database = await Database.create(workspace, 'ours', ourUrl);
    const key = await database.createAdminKey();
    const theirUrl = await createDatabase(server, 'theirs');
    const common = {
      databasePid: server.pid,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    };
    const theirs = await workspace.start([...programArguments('hand-written-server'), theirUrl, key]);
    const sides = {
      ours: { target: { servers: [await database.serve()], ...common }, traffic: new LiveTraffic() },
      theirs: { target: { servers: [theirs], ...common }, traffic: new LiveTraffic() },
    };
    for (const { target, traffic } of Object.values(sides)) {
      const next = () => traffic.next([projectId], 'ordered', batchQueries);
      await send(target, next, { amount: arraysBefore, connections: 1 });
    }
    for (const url of [ourUrl, theirUrl]) await vacuum(url);
    await checkpoint(server);
    const contestants = CONTESTS.flatMap(({ what, connections, queries }) =>
      Object.entries(sides).map(
        ([name, { target, traffic }]): Contestant => ({
          name: `${what}: ${name}`,
          target,
          connections,
          next: () =>
            queries === 0 ? askBetween(traffic.sent) : traffic.next([projectId], 'ordered', queries),
        }),
      ),
    );
    const rounds = await hold(contestants, options);
    for (const { target, traffic } of Object.values(sides)) {
      const { path } = askBetween(traffic.sent, 0);
      deepStrictEqual(await totalOf(target, path), traffic.sent, 'every query is counted once');
    }
    const figures = (how: string, of: (sample: Sample) => number) =>
      CONTESTS.map(({ what, aim }): Figure => {
        const values = ratio(rounds, `${what}: ours`, `${what}: theirs`, of);
        const aimed = aim === undefined || how !== 'rate' ? {} : { atLeast: aim };
        return { what: `${how} over a server written by hand: ${what}`, values, ...aimed };
      });
    return {
      name: 'hand-written',
      method:
        `One node on PostgreSQL ${await readVersion(server)} against one process of \`node:http\` and \`pg\` that looks up the key, records with one statement ` +
        'that also adds to counters of each day, and counts rows with `GROUP BY`. Both record live traffic of a project with 100 queries per second, with `fsync`.',
      ratios: [
        ...figures('rate', ({ requestsPerSecond }) => requestsPerSecond),
        ...figures('rate by processor time', (sample) => 1 / processorUs(sample)),
      ],
      absolutes: [...rounds].map(([what, samples]) => ({
        what,
        unit: 'requests/s',
        values: samples.map(({ requestsPerSecond }) => requestsPerSecond),
      })),
    };
  });
}

let asked = 0;

/** A count of nearly all of so many queries of live traffic. */
function askBetween(queries: number, offMs = (asked++ % 97) + 1): Message {
  const [from, to] = [YEAR.to + offMs, YEAR.to + 10 * (queries + 1)].map((ms) => new Date(ms).toISOString());
  return {
    method: 'GET',
    path: `/v1/analytics/${projectId}/assistant/caller-stats?dateFrom=${from}&dateTo=${to}`,
  };
}

async function totalOf({ servers, headers }: Target, path: string): Promise<number> {
  const response = await fetch(`${servers[0]?.url}${path}`, { headers });
  return ((await response.json()) as { total: number }).total;
}
