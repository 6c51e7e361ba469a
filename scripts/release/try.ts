/**
 * `npx tsx scripts/release/try.ts PROGRAM [ARGUMENT…]` runs a packaged program in an empty folder, such as `node` with the file of an
 * installed package. It must have this version, serve sample data, record, count and stop.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

interface Counts {
  readonly web: number;
  readonly total: number;
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const startMsMax = 60_000;
const [name = '', ...args] = process.argv.slice(2);
if (name === '') {
  process.stderr.write(
    'Which program? As in: npx tsx scripts/release/try.ts node node_modules/caller-stats/dist/main.js\n',
  );
  process.exit(2);
}
// `node` is found by the shell's path, everything else by its own.
const program = name === 'node' ? process.execPath : resolve(name);
const programArgs = args.map((one) => (one.startsWith('-') ? one : resolve(one)));
const folder = mkdtempSync(join(tmpdir(), 'caller-stats-try-'));
const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1' } };

/** What a command prints. */
function run(...more: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, [...programArgs, ...more], {
    ...options,
    encoding: 'utf8',
  });
  ok(status === 0, `${more.join(' ')} ends with ${status}: ${stderr}`);
  return stdout;
}

/** The address of a server, after it has printed where its documentation is: then its first keys exist. */
async function addressOf(server: ChildProcess): Promise<string> {
  ok(server.stdout);
  const timer = setTimeout(() => server.kill('SIGKILL'), startMsMax);
  let address = '';
  for await (const line of createInterface({ input: server.stdout })) {
    address = /listens on (\S+)/.exec(line)?.[1] ?? address;
    if (!line.startsWith('Documentation: ')) continue;
    clearTimeout(timer);
    server.stdout.resume();
    return address;
  }
  throw new Error('The server does not start.');
}

async function request<T>(url: string, key: string, queries?: unknown): Promise<T> {
  const answer = await fetch(url, {
    method: queries === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(queries === undefined ? {} : { body: JSON.stringify(queries) }),
  });
  ok(answer.ok, `${url} answers ${answer.status}`);
  return (await answer.json()) as T;
}

async function tryServer(server: ChildProcess): Promise<void> {
  const address = await addressOf(server);
  const firstRun = readFileSync(join(folder, 'data/caller-stats.db.first-run'), 'utf8');
  const [admin = ''] = /cs_admin_\w+/.exec(firstRun) ?? [];
  const [recording = ''] = /cs_recording_\w+/.exec(firstRun) ?? [];
  const project = `${address}/v1/analytics/demo/assistant`;
  const before = await request<Counts>(`${project}/caller-stats`, admin);
  ok(before.total > 0, 'there is no sample data');
  const recorded = await request(`${project}/queries`, recording, [{ id: 'one', caller: 'web' }]);
  deepStrictEqual(recorded, { recorded: 1, duplicates: 0 });
  const counts = await request<Counts>(`${project}/caller-stats`, admin);
  deepStrictEqual(counts, { ...before, web: before.web + 1, total: before.total + 1 });
  for (const path of ['/', '/docs', '/readyz'])
    ok((await fetch(`${address}${path}`)).ok, `${path} does not work`);
  deepStrictEqual(JSON.parse(run('stats', 'demo', '--json')), counts);
}

try {
  deepStrictEqual(run('--version').trim(), version);
  const server = spawn(program, [...programArgs, 'serve', '--demo', '--port', '0'], {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  try {
    await tryServer(server);
  } finally {
    server.kill();
  }
  const [status, signal] = await exited;
  // Windows has no signals: it ends the process.
  if (process.platform !== 'win32') deepStrictEqual([status, signal], [0, null], 'the server does not stop');
  deepStrictEqual(readdirSync(folder), ['data']);
  run('verify');
  run('doctor', '--port', '0');
  process.stdout.write(`${[name, ...args].join(' ')} ${version}: serves, records, counts and stops\n`);
} finally {
  rmSync(folder, { recursive: true, maxRetries: 5 });
}
