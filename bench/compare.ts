/**
 * Compares this build with another checkout of the project that has been built, so that a change can show that it made nothing
 * slower: `npx tsx bench/compare.ts ../other-checkout [--rounds 9] [--seconds 2]`. Both servers run side by side on copies of
 * one database, and take turns in every round. Prints ratios of this build over the other one: above 1 is faster.
 *
 * `--database URL --other-database URL` compares databases, such as a Citus cluster and a PostgreSQL server: each build uses its own,
 * in which there is no project `compare`. `--only TEXT` selects subjects whose names contain the text.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { freePort } from '../test/support/free-port.js';
import { quantile } from './support/statistics.js';

interface Build {
  readonly name: string;
  readonly main: string;
  readonly databaseUrl: string;
  readonly key: string;
}

interface RunningBuild extends Build {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

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

const folder = mkdtempSync(join(tmpdir(), 'compare-'));
const builds = makeBuilds(root, resolve(other));

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

const running = [await start(builds[0]), await start(builds[1])] as const;
try {
  for (const [name, subject] of Object.entries(subjects))
    if (name.includes(values.only)) await compare(name, running, subject);
} finally {
  await Promise.all(running.map(({ stop }) => stop()));
}
if ('starts'.includes(values.only)) await compare('starts', builds, startRate);
rmSync(folder, { recursive: true });

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
function makeBuilds(thisCheckout: string, otherCheckout: string): readonly [Build, Build] {
  const [mine, others] = [join(thisCheckout, 'dist/main.js'), join(otherCheckout, 'dist/main.js')];
  const urlOf = (name: string): string => `sqlite:${join(folder, name, 'caller-stats.db')}`;
  const { database = urlOf('this'), 'other-database': otherDatabase = urlOf('other') } = values;
  const otherKey = fillDatabase(others, otherDatabase);
  const isCopy = values.database === undefined;
  if (isCopy) cpSync(join(folder, 'other'), join(folder, 'this'), { recursive: true });
  const key = isCopy ? otherKey : fillDatabase(mine, database);
  return [
    { name: 'this', main: mine, databaseUrl: database, key },
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

async function start({ main, databaseUrl, ...build }: Build): Promise<RunningBuild> {
  const port = await freePort();
  const server = spawn(
    process.execPath,
    [main, 'serve', '--database', databaseUrl, '--port', String(port), '--log-level', 'info'],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const url = `http://127.0.0.1:${port}`;
  await waitForLine(server.stderr, url);
  const stop = async () => {
    server.kill();
    await once(server, 'exit');
  };
  return { ...build, main, databaseUrl, url, stop };
}

/** Resolves with the first line that has the text, and reads on, so that the process never waits for its log to be read. */
async function waitForLine(stream: Readable, text: string): Promise<void> {
  let before = '';
  await new Promise<void>((found, failed) => {
    stream.on('data', (chunk: Buffer) => {
      before = before.slice(-10_000) + chunk.toString();
      if (before.includes(text)) found();
    });
    stream.on('end', () => failed(new Error(`The server ended before it listened: ${before}`)));
  });
}

/** Starts per second, from the process's start to the line that says that it listens. */
async function startRate(build: Build): Promise<number> {
  const before = performance.now();
  const { stop } = await start(build);
  const seconds = (performance.now() - before) / 1000;
  await stop();
  return 1 / seconds;
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
