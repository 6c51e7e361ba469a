/** The contents of a spool's folder, and who owns them. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { QueuedQuery } from '../../clients/javascript/src/query.js';
import type { Spool } from '../../clients/javascript/src/recorder-options.js';
import { openSpool } from '../../clients/javascript/src/spool.js';
import { temporaryFolder } from '../support/temporary.js';

const query = (id: number): QueuedQuery => ({
  id: `query-${id}`,
  caller: 'web',
  occurredAt: '2026-01-01T00:00:00.000Z',
});

const newPath = async (): Promise<string> => join(await temporaryFolder(), 'spool');
const namesIn = (path: string, ending: string): string[] =>
  readdirSync(path).filter((name) => name.endsWith(ending));
const readLines = (path: string): string[] =>
  namesIn(path, '.ndjson').flatMap((name) => readFileSync(join(path, name), 'utf8').split('\n').slice(0, -1));

/** Opens a spool and loads it. What it finds later goes to `found`. */
function open(path: string, { project = 'docs', fsync = false } = {}) {
  const spool = openSpool(path, { fsync });
  const found: QueuedQuery[] = [];
  const left = spool.load(project, (load) => found.push(...load()));
  onTestFinished(() => spool.close());
  return { spool, left, found };
}

/** Leaves queries as a process that was killed does: with this text in its lock, which is so old. */
function leave(
  path: string,
  text: string | undefined,
  { ageMs = 0, project = 'docs', ids = [1] } = {},
): void {
  mkdirSync(path, { recursive: true });
  const owner = join(path, crypto.randomUUID());
  writeFileSync(`${owner}.0.${project}.ndjson`, ids.map((id) => `${JSON.stringify(query(id))}\n`).join(''));
  if (text !== undefined) writeFileSync(`${owner}.lock`, text);
  if (text !== undefined) age(`${owner}.lock`, ageMs);
}

const age = (file: string, ageMs: number): void => utimesSync(file, new Date(), new Date(Date.now() - ageMs));
const ageLocks = (path: string): void => {
  for (const name of namesIn(path, '.lock')) age(join(path, name), 61_000);
};

/** The place of this process, as in its lock. */
const here = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
const deadPid = 2 ** 22 + 1;

test('a folder in a missing folder, and a link to nothing, are refused', async () => {
  const path = await newPath();
  expect(() => openSpool(`${path}/not/there`)).toThrow(/ENOENT/);
  symlinkSync(`${path}-nothing`, path);
  expect(() => openSpool(path)).toThrow(/ENOENT/);
});

test.each<[string, string | undefined, number]>([
  ['has no lock', undefined, 0],
  ['has a lock that is over a minute old', `1 of-another-place`, 61_000],
  ['has a lock of this process that is over a minute old', `${process.pid} ${here}`, 61_000],
  ['had a process that is not running', `${deadPid} ${here}`, 0],
])('the files of an owner that %s are adopted, by one of several', async (_, text, ageMs) => {
  const path = await newPath();
  leave(path, text, { ageMs, ids: [1, 2] });
  const loaded = Array.from({ length: 5 }, () => open(path));
  expect(loaded.flatMap(({ left }) => left)).toEqual([query(1), query(2)]);
  // The adopter owns them until they are settled.
  expect(open(path).left).toEqual([]);
  expect(readLines(path)).toHaveLength(2);
  for (const { spool } of loaded) spool.settle([]);
  expect([readLines(path), namesIn(path, '.lock').length]).toEqual([[], 6]);
});

test.each<[string, string]>([
  ['in another container, with the same process id', `${process.pid} ${here}9`],
  ['whose process runs', `${process.ppid} ${here}`],
  ['that does not know its place', `${deadPid} `],
  ['whose lock is being written', ''],
])('the files of an owner %s are left alone for a minute', async (_, text) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const path = await newPath();
  leave(path, text);
  const { left, found } = open(path);
  vi.advanceTimersByTime(20_000);
  expect([left, found]).toEqual([[], []]);
  // Not only by those who start.
  ageLocks(path);
  vi.advanceTimersByTime(20_000);
  expect(found).toEqual([query(1)]);
});

test('a file that cannot be read is kept for those who can, and reported', async () => {
  const path = await newPath();
  leave(path, undefined, { ids: [1] });
  mkdirSync(join(path, `${crypto.randomUUID()}.0.docs.ndjson`));
  const { spool, left } = open(path);
  expect(left).toEqual([query(1)]);
  expect(() => spool.settle([])).toThrow(/EISDIR/);
  expect(readdirSync(path).filter((name) => name.endsWith('.ndjson'))).toHaveLength(1);
  expect(() => spool.settle([])).not.toThrow();
  spool.close();
  expect(() => open(path)).toThrow(/EISDIR/);
});

test('queries of another project are left alone', async () => {
  const path = await newPath();
  leave(path, undefined, { project: 'other' });
  expect(open(path).left).toEqual([]);
  expect(open(path, { project: 'other' }).left).toEqual([query(1)]);
});

test('an owner whose files were taken goes on under another name', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const path = await newPath();
  const { spool } = open(path);
  spool.append(query(1));
  // It was stopped for more than a minute.
  ageLocks(path);
  const other = open(path);
  expect(other.left).toEqual([query(1)]);
  vi.setSystemTime(Date.now() + 120_000);
  spool.append(query(2));
  other.spool.settle([]);
  expect(readLines(path).map((line) => JSON.parse(line))).toEqual([query(2)]);
  spool.close();
  expect(open(path).left).toEqual([query(2)]);
});

test('the module may be loaded twice, and the path may be relative or a link', async () => {
  const path = await newPath();
  const again = (await import(`../../clients/javascript/src/spool.js?${'again'}`)) as {
    openSpool: typeof openSpool;
  };
  const spools = [openSpool(path), again.openSpool(path), openSpool(relative(process.cwd(), path))];
  symlinkSync(path, `${path}-link`);
  spools.push(openSpool(`${path}-link`));
  for (const [at, spool] of spools.entries()) {
    expect(spool.load('docs', () => {})).toEqual([]);
    spool.append(query(at));
  }
  expect(readLines(path)).toHaveLength(4);
  spools[0]?.settle([]);
  expect(readLines(path)).toHaveLength(3);
  for (const spool of spools) spool.close();
  expect(open(path).left).toHaveLength(3);
});

test('the file of an earlier version is read once, and the folder takes its place', async () => {
  const path = await newPath();
  writeFileSync(path, `${JSON.stringify(query(1))}\n{"id":"to`);
  writeFileSync(`${path}.lock`, '1 earlier');
  const { spool, left } = open(path);
  expect(left).toEqual([query(1)]);
  spool.settle([]);
  expect([readLines(path), open(path).left, existsSync(`${path}.lock`)]).toEqual([[], [], false]);
});

test('incomplete and invalid lines are skipped, and the others are loaded in order', async () => {
  const path = await newPath();
  leave(path, undefined, { ids: [] });
  const [name = ''] = readdirSync(path);
  const lines = [query(1), 'not JSON', '', null, 7, {}, query(2)].map((one) =>
    typeof one === 'string' ? one : JSON.stringify(one),
  );
  writeFileSync(join(path, name), `${lines.join('\n')}\n{"id":"to`);
  // Files of others are left alone.
  writeFileSync(join(path, 'notes.ndjson'), 'mine\n');
  expect(open(path).left).toEqual([query(1), query(2)]);
  expect(readFileSync(join(path, 'notes.ndjson'), 'utf8')).toBe('mine\n');
});

test.each([false, true])(
  'with fsync %j it is emptied when all queries are settled, and stays small under load',
  async (fsync) => {
    const path = await newPath();
    const { spool } = open(path, { fsync });
    spool.append(query(1));
    expect(readLines(path)).toHaveLength(1);
    spool.settle([]);
    expect(readLines(path)).toEqual([]);
    // Under continuous load the spool is never empty.
    const count = fsync ? 10 : 25_000;
    for (let id = 2; id < count; id++) {
      spool.append(query(id));
      if (id % 1000 === 0) spool.settle([query(id)]);
    }
    expect(readLines(path).length).toBeLessThan(12_000);
    expect(JSON.parse(readLines(path).at(-1) ?? '')).toEqual(query(count - 1));
    spool.close();
    const again = open(path);
    expect(again.left.at(-1)).toEqual(query(count - 1));
    again.spool.settle([]);
    again.spool.close();
    expect(readdirSync(path)).toEqual([]);
  },
);

test('pending queries survive reopening, whatever was settled before', async () => {
  const path = await newPath();
  const reopen = (): { spool: Spool; left: readonly QueuedQuery[] } => {
    const spool = openSpool(path);
    return { spool, left: spool.load('docs', () => {}) };
  };
  let id = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 30 }), async (appended) => {
      const { spool } = reopen();
      spool.settle([]);
      let waiting: QueuedQuery[] = [];
      for (const howMany of appended) {
        const more = Array.from({ length: howMany }, () => query(id++));
        for (const one of more) spool.append(one);
        waiting = [...waiting, ...more];
        // Every second time everything is delivered.
        if (howMany % 2 === 0) waiting = [];
        spool.settle(waiting);
      }
      spool.close();
      const again = reopen();
      const { length } = waiting;
      expect(length === 0 ? [] : again.left.slice(-length)).toEqual(waiting);
      again.spool.close();
    }),
  );
});
