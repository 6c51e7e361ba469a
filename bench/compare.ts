/**
 * Compares this build with another checkout of the project that has been built, so that a change can show that it made nothing
 * slower: `npx tsx bench/compare.ts ../other-checkout [--rounds 9] [--seconds 2]`. Both servers run side by side on copies of
 * one database, and take turns in every round. Prints ratios of this build over the other one: above 1 is faster.
 *
 * `--database URL --other-database URL` compares databases, such as a Citus cluster and a PostgreSQL server: each build uses its own,
 * in which there is no project `compare`. `--only TEXT` selects subjects whose names contain the text.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { quantile } from './support/statistics.js';
import { mainFile, type Server, type Workspace, withWorkspace } from './support/workspace.js';

interface Build {
  readonly name: string;
  readonly main: string;
  readonly databaseUrl: string;
  readonly key: string;
}

type RunningBuild = Build & Server;

type Subject = (build: RunningBuild, seconds: number) => Promise<number>;

const projectId = 'compare';
const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    database: { type: 'string' },
    'other-database': { type: 'string' },
  },
});
const [other] = positionals;
if (other === undefined) throw new Error('Name the folder of another checkout that has been built.');

const year = 'dateFrom=2023-01-01&dateTo=2024-01-01';
const path = `/v1/analytics/${projectId}/assistant`;
const subjects: Readonly<Record<string, Subject>> = {
  'exports between days': get(`${path}/caller-stats?${year}`),
  'exports between milliseconds': get(
    `${path}/caller-stats?dateFrom=2023-01-01T00:00:00.001Z&dateTo=2024-01-01T12:34:56.789Z`,
  ),
  'recordings of one query': post(1),
  'recordings of 1,000 queries': post(1000),
  'series of 365 days': get(`${path}/caller-stats/series?interval=day&timeZone=Europe/Berlin&${year}`),
};

await withWorkspace(async (workspace) => {
  const builds = makeBuilds(workspace, join(resolve(other), 'dist/main.js'));
  const running = [await start(workspace, builds[0]), await start(workspace, builds[1])] as const;
  for (const [name, subject] of Object.entries(subjects))
    if (name.includes(values.only)) await compare(name, running, subject);
  await workspace.stop();
  const startRate = async (build: Build) =>
    1000 / (await workspace.msUntilReady(() => start(workspace, build)));
  if ('starts'.includes(values.only)) await compare('starts', builds, startRate);
});

/** Runs both builds in every round, each first in every other one, and prints the median ratio with its range. */
async function compare<B extends Build>(
  name: string,
  [mine, others]: readonly [B, B],
  subject: (build: B, seconds: number) => Promise<number>,
): Promise<void> {
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let round = 0; round <= Number(values.rounds); round++) {
    const pair = round % 2 === 0 ? [mine, others] : [others, mine];
    const rateByBuild = new Map<Build, number>();
    for (const build of pair) rateByBuild.set(build, await subject(build, Number(values.seconds)));
    // Round 0 warms up.
    if (round === 0) continue;
    ratios.push((rateByBuild.get(mine) ?? 0) / (rateByBuild.get(others) ?? 1));
    rates.push(rateByBuild.get(others) ?? 0);
  }
  const figures = [0.5, 0, 1].map((share) => quantile(ratios, share).toFixed(2));
  process.stdout.write(
    `${name}: ${figures[0]} (${figures[1]} to ${figures[2]}); the other build: ${quantile(rates, 0.5).toFixed(1)} per second\n`,
  );
}

/** Both builds, with copies of one database, or with the databases of the options. */
function makeBuilds(workspace: Workspace, others: string): readonly [Build, Build] {
  const urlOf = (name: string): string => `sqlite:${workspace.path(`${name}/caller-stats.db`)}`;
  const { database = urlOf('this'), 'other-database': otherDatabase = urlOf('other') } = values;
  const otherKey = fillDatabase(others, otherDatabase);
  const isCopy = values.database === undefined;
  if (isCopy) cpSync(workspace.path('other'), workspace.path('this'), { recursive: true });
  const key = isCopy ? otherKey : fillDatabase(mainFile, database);
  return [
    { name: 'this', main: mainFile, databaseUrl: database, key },
    { name: 'other', main: others, databaseUrl: otherDatabase, key: otherKey },
  ];
}

/** Makes a project with the demo's events; gives an admin key. */
function fillDatabase(main: string, databaseUrl: string): string {
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [main, ...args, '--database', databaseUrl], { encoding: 'utf8' });
  run('project', 'create', 'Compare', '--id', projectId);
  run('import', join(root, 'demo/changes.ndjson.gz'), '--project', projectId);
  return (JSON.parse(run('key', 'create', '--name', 'Compare', '--json')) as { key: string }).key;
}

async function start(workspace: Workspace, build: Build): Promise<RunningBuild> {
  const args = ['serve', '--database', build.databaseUrl, '--port', '0', '--log-level', 'error'];
  return { ...build, ...(await workspace.start([build.main, ...args])) };
}

function get(requestPath: string): Subject {
  return ({ url, key }, seconds) =>
    measure({ url, duration: seconds, requests: [{ path: requestPath, headers: headersOf(key) }] });
}

function post(queries: number): Subject {
  const makeBody = () =>
    JSON.stringify(Array.from({ length: queries }, () => ({ id: randomUUID(), caller: 'web' })));
  return ({ url, key }, seconds) =>
    measure({
      url,
      duration: seconds,
      requests: [
        {
          method: 'POST',
          path: `${path}/queries`,
          headers: { ...headersOf(key), 'content-type': 'application/json' },
          setupRequest: (request) => ({ ...request, body: makeBody() }),
        },
      ],
    });
}

function headersOf(key: string) {
  return { authorization: `Bearer ${key}` };
}

async function measure(options: autocannon.Options): Promise<number> {
  const result = await autocannon({ ...options, connections: Number(values.connections), sampleInt: 100 });
  const failed = result.non2xx + result.errors + result.timeouts;
  if (failed > 0) throw new Error(`${options.url}: ${failed} requests failed`);
  return result['2xx'] / ((result.finish.getTime() - result.start.getTime()) / 1000);
}
