/** The contents of a spool file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueuedQuery } from '../../client/src/query.js';
import { openSpool } from '../../client/src/spool.js';
import { temporaryFolder } from '../support/temporary.js';

const query = (id: number): QueuedQuery => ({
  id: `query-${id}`,
  caller: 'web',
  occurredAt: '2026-01-01T00:00:00.000Z',
});

const newPath = async (): Promise<string> => join(await temporaryFolder(), 'queries.ndjson');
const readLines = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);

test('a missing folder and a spool that is already open are refused', async () => {
  const path = await newPath();
  expect(() => openSpool(`${path}/not/there`)).toThrow(/ENOENT|ENOTDIR/);
  const spool = openSpool(path);
  expect(() => openSpool(path)).toThrow(`${path} is open in this process already`);
  spool.close();
  openSpool(path).close();
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test.each([
  ['', 'is empty, as a power failure may leave it'],
  ['0', 'names no process'],
  [`${process.ppid} of-an-earlier-start`, 'is from before the machine was started again'],
])('a lock file with %j is ignored: it %s', async (text) => {
  const path = await newPath();
  writeFileSync(`${path}.lock`, text);
  openSpool(path).close();
});

test('a lock file of a running process is respected, with the form of earlier versions', async () => {
  const path = await newPath();
  writeFileSync(`${path}.lock`, String(process.ppid));
  expect(() => openSpool(path)).toThrow(`${path} is open in process ${process.ppid}`);
});

test('incomplete and invalid lines are skipped, and the others are loaded in order', async () => {
  const path = await newPath();
  writeFileSync(path, `${JSON.stringify(query(1))}\nnot JSON\n\n${JSON.stringify(query(2))}\n{"id":"to`);
  const spool = openSpool(path);
  expect(spool.load()).toEqual([query(1), query(2)]);
  spool.append(query(3));
  expect(readLines(path).map((line) => JSON.parse(line))).toEqual([query(1), query(2), query(3)]);
  spool.close();
});

test.each([false, true])(
  'with fsync %j it is emptied when all queries are settled, and stays small under load',
  async (fsync) => {
    const path = await newPath();
    const spool = openSpool(path, { fsync });
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
    const again = openSpool(path);
    expect(again.load().at(-1)).toEqual(query(count - 1));
    again.close();
  },
);

test('pending queries survive reopening, whatever was settled before', async () => {
  const path = await newPath();
  let id = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(3), { maxLength: 30 }), async (appended) => {
      const spool = openSpool(path);
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
      const again = openSpool(path);
      const { length } = waiting;
      expect(length === 0 ? [] : again.load().slice(-length)).toEqual(waiting);
      again.close();
      expect(readFileSync(path, 'utf8')).not.toContain('\0');
    }),
  );
});
