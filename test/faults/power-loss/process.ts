/**
 * The process that is recorded: it runs the program through one of the stories below in a folder, and marks what it was
 * told. Started by `record` with the name of the story, the folder, and the file of marks.
 */
import { randomInt } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { openSpool } from '../../../clients/javascript/src/spool.js';
import type * as Program from '../../../src/cli/program.js';
import type { RecordResult } from '../../../src/storage/ports/store.js';
import { PROJECTS, type ProjectId, sizeOf } from '../blocks.js';
import { bodyOf } from '../requests.js';
import { openMarks } from './marks.js';

const [story = '', folder = '', marksFile = ''] = process.argv.slice(2);
const mark = openMarks(marksFile);
const { run } = (await import(new URL('../../../dist/program.js', import.meta.url).href)) as typeof Program;

/** Runs a command of the program in this process, and returns what it printed. */
async function command(
  args: readonly string[],
  { input = '', stop = new Promise<string>(() => {}), onText = (_text: string) => {} } = {},
): Promise<string> {
  const output = { stdout: '', stderr: '' };
  const collect = (name: 'stdout' | 'stderr') =>
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        output[name] += chunk;
        onText(output.stdout + output.stderr);
        done();
      },
    });
  const status = await run(
    args,
    {
      ...{ stdout: collect('stdout'), stderr: collect('stderr'), stdin: Readable.from([Buffer.from(input)]) },
      ...{ env: {}, stdoutIsTerminal: false, interactive: false, colors: false, randomInt },
      clock: { now: () => Date.now() },
      monotonicMs: () => performance.now(),
      stopRequested: () => stop,
      onHangup: () => undefined,
      packageFolder: new URL('../../../', import.meta.url),
    },
    '0.0.0',
  );
  if (status !== 0) throw new Error(`${args.join(' ')}: ${status}\n${output.stderr}`);
  return output.stdout;
}

const on = (file: string): string[] => ['--database', `sqlite:${file}`];

/** Serves while `work` runs. `logged` waits for a line of the server's output. */
async function whileServing(
  file: string,
  work: (server: { url: string; logged: (pattern: RegExp) => Promise<void> }) => Promise<void>,
): Promise<void> {
  let text = '';
  let check = (): void => {};
  const logged = (pattern: RegExp) =>
    new Promise<void>((resolve) => {
      check = () => {
        if (pattern.test(text)) resolve();
      };
      check();
    });
  let end = (_signal: string): void => {};
  const stop = new Promise<string>((resolve) => {
    end = resolve;
  });
  const onText = (more: string): void => {
    text = more;
    check();
  };
  const ended = command(['serve', '--port', '0', ...on(file)], { stop, onText });
  await Promise.race([logged(/^Documentation: .+\n/m), ended]);
  const url = /^caller-stats listens on (\S+)$/m.exec(text)?.[1] ?? '';
  await work({ url, logged });
  end('SIGTERM');
  await ended;
}

let operations = 0;

/** Sends blocks in one request. */
async function send(url: string, key: string, project: ProjectId, blocks: readonly number[]): Promise<void> {
  const op = ++operations;
  mark({ kind: 'history', entry: { kind: 'record', op, project, blocks } });
  const { body, type } = bodyOf({ project, blocks, form: 'ndjson', altered: false });
  const response = await fetch(`${url}/v1/analytics/${project}/assistant/queries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body,
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  mark({
    kind: 'history',
    entry: { kind: 'recorded', op, result: (await response.json()) as RecordResult },
  });
}

/** Imports blocks with the command. */
async function importBlocks(file: string, project: ProjectId, blocks: readonly number[]): Promise<void> {
  const { body } = bodyOf({ project, blocks, form: 'ndjson', altered: false });
  await command(['import', '-', '--project', project, ...on(file)], { input: `${body}\n` });
}

const createProject = (file: string, id: string) =>
  command(['project', 'create', id, '--id', id, ...on(file)]);

async function createKey(file: string, args: readonly string[]): Promise<{ id: string; key: string }> {
  const all = ['key', 'create', '--name', 'k', '--expires', 'never', '--json', ...args, ...on(file)];
  return JSON.parse(await command(all)) as { id: string; key: string };
}

/** The numbers of blocks with few queries. */
function smallBlocks(from: number, count: number): number[] {
  const blocks: number[] = [];
  for (let block = from; blocks.length < count; block++) if (sizeOf(block) <= 150) blocks.push(block);
  return blocks;
}

/** A first start, recording, keys, a restart, and retention. */
async function recording(): Promise<void> {
  mark({ kind: 'begin' });
  const file = join(folder, 'data', 'new', 'stats.db');
  const blocks = smallBlocks(0, 90);
  let key = '';
  for (let start = 0; start < 2; start++) {
    await whileServing(file, async ({ url }) => {
      const firstRun = readFileSync(`${file}.first-run`, 'utf8');
      mark({ kind: 'started', secret: readFileSync(`${file}.secret`, 'utf8'), firstRun });
      if (start === 0) for (const project of PROJECTS) await createProject(file, project);
      const made = await createKey(file, ['--type', 'admin']);
      key = made.key;
      mark({ kind: 'key', value: key, project: 'first', works: true });
      const rest = start === 0 ? blocks.slice(0, 45) : blocks.slice(45);
      const senders = [0, 1, 2].map(async (sender) => {
        for (let at = sender; at < rest.length; at += 3) {
          const [block = 0, other = 0] = [rest[at], rest[(at * 7) % rest.length]];
          const project = PROJECTS[sender === 2 ? 1 : 0];
          await send(url, key, project, at % 4 === 0 && other !== block ? [block, other] : [block]);
        }
      });
      const changes = async (): Promise<void> => {
        for (let number = 0; number < 3; number++) {
          const { id, key: value } = await createKey(file, ['--type', 'reading', '--project', 'second']);
          mark({ kind: 'key', value, project: 'second', works: true });
          mark({ kind: 'key-change', value });
          await command(['key', 'revoke', id, ...on(file)]);
          mark({ kind: 'key', value, project: 'second', works: false });
        }
      };
      await Promise.all([...senders, changes()]);
    });
  }
  await command(['project', 'change', 'second', '--retention-days', '1', ...on(file)]);
  await whileServing(file, async ({ url, logged }) => {
    await logged(/rows of queries older than the retention of their project were removed/);
    const [last = 0] = smallBlocks(200, 1);
    await send(url, key, 'first', [last]);
  });
}

/** A database of an old version, which is there already, is migrated and then served. */
async function migrating(): Promise<void> {
  const file = join(folder, 'old.db');
  mark({ kind: 'begin' });
  const { version } = JSON.parse(await command(['migrate', '--json', ...on(file)])) as { version: number };
  mark({ kind: 'migrated', version });
  await whileServing(file, async () => {});
}

/** A backup into a new folder, and another one over it after more was recorded. */
async function backingUp(): Promise<void> {
  const file = join(folder, 'stats.db');
  const backup = join(folder, 'backups', 'daily', 'stats.backup');
  await createProject(file, 'first');
  const blocks: number[] = [];
  for (let number = 0; number < 3; number++) {
    const more = smallBlocks(100 * number, 8);
    await importBlocks(file, 'first', more);
    blocks.push(...more);
    // What is recorded is tested elsewhere.
    if (number === 0) mark({ kind: 'begin' });
    mark({ kind: 'backup', file: backup, blocks });
    await command(['backup', backup, ...(number === 0 ? [] : ['--replace']), ...on(file)]);
    mark({ kind: 'backed-up' });
  }
}

/** Restores over a database of a server that was killed, with its log; and where there is none. */
async function restoring(): Promise<void> {
  const file = join(folder, 'stats.db');
  const backup = join(folder, 'stats.backup');
  const crashed = join(folder, 'crashed.db');
  const blocks = smallBlocks(0, 8);
  const more = smallBlocks(100, 8);
  await createProject(file, 'first');
  await importBlocks(file, 'first', blocks);
  await command(['backup', backup, ...on(file)]);
  const { key } = await createKey(file, []);
  await whileServing(file, async ({ url }) => {
    await send(url, key, 'first', more);
    for (const end of ['', '-wal']) copyFileSync(file + end, crashed + end);
  });
  const fresh = join(folder, 'other', 'machine', 'stats.db');
  mark({ kind: 'begin' });
  for (const [target, old] of [
    [crashed, [...blocks, ...more]],
    [fresh, null],
  ] as const) {
    mark({ kind: 'restore', file: target, blocks, old });
    await command(['restore', backup, ...(old === null ? [] : ['--replace']), ...on(target)]);
    mark({ kind: 'restored', file: target });
  }
}

/** A spool with `fsync` takes queries and forgets some, until it rewrites its file; twice, as after a restart. */
async function spooling(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  mark({ kind: 'begin' });
  let next = 0;
  let waiting: string[] = [];
  const toQuery = (id: string) => ({ id, caller: 'web', occurredAt: '2026-01-01T00:00:00.000Z' });
  for (let start = 0; start < 3; start++) {
    const spool = openSpool(join(folder, 'queries.spool'), { fsync: true });
    spool.load('docs', () => {});
    const take = (): void => {
      const id = `${next++}`;
      waiting.push(id);
      spool.append(toQuery(id));
      mark({ kind: 'spooled', ids: [id] });
    };
    const settle = (left: number): void => {
      const settled = waiting.slice(0, waiting.length - left);
      waiting = waiting.slice(waiting.length - left);
      mark({ kind: 'settling', ids: settled });
      spool.settle(waiting.map(toQuery));
    };
    for (let turn = 0; turn < 12; turn++) {
      for (let many = 0; many <= turn % 4; many++) take();
      settle(turn % 3);
    }
    // So many settled queries that the file is rewritten with those that wait.
    if (start === 1) {
      for (let many = 0; many < 10_010; many++) take();
      settle(7);
      for (let many = 0; many < 20; many++) take();
    }
    spool.close();
  }
}

const stories: Readonly<Record<string, () => Promise<void>>> = {
  recording,
  migrating,
  backingUp,
  restoring,
  spooling,
};

await stories[story]?.();
process.exit();
