/**
 * `npx tsx scripts/walk.ts` follows the documentation like a new user in an empty folder: from a clone to counts, the dashboard,
 * PostgreSQL, an upgrade and a restored backup. Checks the result of each step and writes `docs/engineering/walk.md` with the
 * times. Uses the browser and the PostgreSQL server of the tests.
 */

import { deepStrictEqual } from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { PAGES } from '../docs/.vitepress/page-list.js';
import { sourceOf } from '../docs/.vitepress/pages.js';
import { findChromium, startChromium } from '../test/support/browser/chromium.js';
import { olderPostgres, startPostgres } from '../test/support/postgres/postgres-server.js';

const repository = fileURLToPath(new URL('..', import.meta.url));
const page = fileURLToPath(new URL('../docs/engineering/walk.md', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caller-stats-walk-'));
const clone = join(folder, 'caller-stats');

/** The sample's totals, as documented on its page. */
const sampleTotal = 30_269;
const owner = { name: 'Ada Lovelace', email: 'ada@example.org', password: 'a long enough passphrase' };
const startMsMax = 300_000;

interface Step {
  readonly what: string;
  readonly by: string;
  readonly seconds: number;
  readonly sinceSeconds: number;
  readonly seen: string;
}

const steps: Step[] = [];
const startedAt = performance.now();

/** Runs a step; `work` returns the observation as text, and `by` is the page that documents the step. */
async function step(what: string, by: string, work: () => Promise<string> | string): Promise<void> {
  process.stderr.write(`${what}\n`);
  const begin = performance.now();
  const seen = await work();
  const now = performance.now();
  steps.push({ what, by, seconds: (now - begin) / 1000, sinceSeconds: (now - startedAt) / 1000, seen });
}

// A person has a terminal, on which keys are printed.
const env = { ...process.env, PORT: '0', NO_COLOR: '1', CALLER_STATS_FIRST_RUN_FILE: '-' };

function run(program: string, args: readonly string[], cwd = clone): string {
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const callerStats = (...args: string[]): string => run(process.execPath, ['dist/main.js', ...args]);
const ask = <T>(...args: string[]): T => JSON.parse(callerStats(...args, '--json')) as T;

interface Counts {
  readonly web: number;
  readonly api: number;
  readonly other: number;
  readonly total: number;
}

interface Served {
  readonly url: string;
  /** The output until it was ready. */
  readonly printed: string;
  /** Stops it with all processes that started it. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>;
}

/** Starts a server and waits for its last line of output, the URL of the documentation. */
async function serve(program: string, args: readonly string[]): Promise<Served> {
  const child = spawn(program, args, {
    cwd: clone,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  const timeout = setTimeout(() => endAll(child, 'SIGKILL'), startMsMax);
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('Documentation: ')) break;
  }
  clearTimeout(timeout);
  child.stdout.resume();
  const printed = lines.join('\n');
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
  if (url === undefined) throw new Error(`the server ended without an address:\n${printed}`);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const gone = once(child, 'exit');
    endAll(child, signal);
    await gone;
    running.delete(child);
  };
  return { url, printed, end };
}

const running = new Set<ChildProcess>();

/** Signals the whole process group, because npm does not forward signals. */
function endAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, signal);
}

const serveHere = (...args: string[]): Promise<Served> =>
  serve(process.execPath, ['dist/main.js', 'serve', '--log-level', 'silent', ...args]);

async function countOf({ url }: Served, project: string, key: string): Promise<Counts> {
  const response = await fetch(`${url}/v1/analytics/${project}/assistant/caller-stats`, {
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Counts;
}

const inWords = ({ web, api, other, total }: Counts): string =>
  `web ${web}, api ${api}, other ${other}: ${total}`;

async function walk(): Promise<void> {
  await step('Clone', 'index.md', () => {
    run('git', ['clone', '--quiet', repository, clone], folder);
    return `${run('git', ['ls-files']).trim().split('\n').length} files`;
  });
  await step('`npm ci`', 'index.md', () => /added \d+ packages/.exec(run('npm', ['ci']))?.[0] ?? '');
  let server: Served | undefined;
  let adminKey = '';
  await step('`npm start -- --demo`, until it answers', 'index.md', async () => {
    server = await serve('npm', ['start', '--', '--demo']);
    adminKey = /\bcs_admin_\w+/.exec(server.printed)?.[0] ?? '';
    return 'an address, two keys, and a link to set up an account';
  });
  const first = server as Served;
  await step('First count', 'index.md', async () => {
    const counts = await countOf(first, 'demo', adminKey);
    deepStrictEqual(counts.total, sampleTotal);
    return inWords(counts);
  });
  await step('The dashboard: account made, chart seen', 'dashboard.md', () => seeDashboard(first));
  let key = '';
  await step('Own project, own key, own query recorded and counted', 'record.md', async () => {
    callerStats('project', 'create', 'My docs', '--id', 'my-docs');
    key = ask<{ key: string }>(
      'key',
      'create',
      '--type',
      'recording',
      '--project',
      'my-docs',
      '--name',
      'My assistant',
    ).key;
    const response = await fetch(`${first.url}/v1/analytics/my-docs/assistant/queries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'msg-1', caller: 'web' }),
    });
    deepStrictEqual(await response.json(), { recorded: 1, duplicates: 0 });
    const counts = await countOf(first, 'my-docs', adminKey);
    deepStrictEqual(counts, { web: 1, api: 0, other: 0, total: 1 });
    return inWords(counts);
  });
  await step('Backed up while the server runs', 'backup.md', () => callerStats('backup', 'backup.db').trim());
  await moveToPostgres(first, adminKey);
  await step('The server killed, its database deleted, the backup restored', 'backup.md', async () => {
    await first.end('SIGKILL');
    rmSync(join(clone, 'data/caller-stats.db'));
    const [restored = ''] = callerStats('restore', 'backup.db').split('\n');
    callerStats('verify');
    const again = await serveHere();
    deepStrictEqual((await countOf(again, 'demo', adminKey)).total, sampleTotal);
    deepStrictEqual((await countOf(again, 'my-docs', adminKey)).total, 1);
    await again.end('SIGTERM');
    return restored;
  });
  await step('A database of the oldest schema upgraded, and verified', 'backup.md', () => {
    const kept = gunzipSync(readFileSync(join(clone, 'test/samples/schemas/sqlite-19.db.gz')));
    mkdirSync(join(folder, 'old'));
    writeFileSync(join(folder, 'old/caller-stats.db'), kept);
    const old = ['--database', `sqlite:${folder}/old/caller-stats.db`];
    const [upgraded = ''] = callerStats('migrate', ...old).split('\n');
    callerStats('verify', ...old);
    return upgraded;
  });
}

async function seeDashboard({ url, printed }: Served): Promise<string> {
  const address = /http:\S+\/set-up#\S+/.exec(printed)?.[0] ?? '';
  const browser = await startChromium(await findChromium(folder, process.env));
  try {
    const view = await browser.newPage();
    await view.goto(address);
    await view.getByLabel('Organization').fill('Analytical Engines');
    await view.getByLabel('Name').fill(owner.name);
    await view.getByLabel('E-mail').fill(owner.email);
    await view.getByLabel('Password', { exact: true }).fill(owner.password);
    await view.getByRole('button', { name: 'Create account' }).click();
    await view.getByRole('heading', { name: 'Overview' }).waitFor();
    await view.goto(`${url}/projects/demo?period=all`);
    await view.getByText(sampleTotal.toLocaleString('en-US')).first().waitFor();
    await view.locator('.chart path').first().waitFor();
    return `the chart, and ${sampleTotal.toLocaleString('en-US')}`;
  } finally {
    await browser.close();
  }
}

async function moveToPostgres(first: Served, adminKey: string): Promise<void> {
  const postgres = await startPostgres(olderPostgres());
  try {
    const there = ['--database', postgres.url()];
    await step(
      `Moved onto PostgreSQL ${postgres.version}, verified, served from there`,
      'moving.md',
      async () => {
        callerStats('copy', '--from', 'sqlite:data/caller-stats.db', '--to', postgres.url());
        callerStats('verify', ...there);
        const served = await serveHere(...there);
        const counts = await countOf(served, 'demo', adminKey);
        deepStrictEqual(counts, await countOf(first, 'demo', adminKey));
        await served.end('SIGTERM');
        return `the same keys, ${inWords(counts)}`;
      },
    );
  } finally {
    await postgres.stop();
  }
}

/** A link to a page of the docs. */
function linkTo(file: string): string {
  const name = basename(file, '.md');
  return `[${PAGES.get(name)?.title}](${relative('docs/engineering', sourceOf(name))})`;
}

function pageOf(): string {
  const rows = steps.map(
    ({ what, by, seconds, sinceSeconds, seen }) =>
      `| ${what} | ${linkTo(by)} | ${shown(seconds)} | ${shown(sinceSeconds)} | ${seen} |`,
  );
  return `# Times of all steps

How long each step takes, from an empty folder to a restored backup, with the commands of the documentation. \`npx tsx scripts/walk.ts\` repeats
all steps, checks the result of each, and writes this page.

Node ${process.versions.node}, ${cpus()[0]?.model.trim() ?? 'an unknown processor'}, ${availableParallelism()} cores, ${new Date().toISOString().slice(0, 10)}.
Wall-clock time in seconds:

| step | page | took | since the start | result |
| ---- | ---- | ---- | --------------- | ---- |
${rows.join('\n')}
`;
}

const shown = (seconds: number): string =>
  seconds < 10 ? seconds.toFixed(1) : Math.round(seconds).toString();

try {
  await walk();
  writeFileSync(page, pageOf());
  process.stdout.write(pageOf());
} finally {
  for (const child of running) endAll(child, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
