/**
 * What must hold after a power failure: starts the program on what the disk contains, and compares it with what the process
 * had been told before the power failed. Nothing else is known.
 */
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openSpool } from '../../../clients/javascript/src/spool.js';
import { readSecrets } from '../../../src/cli/server/secret-file.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { hashKey } from '../../../src/domain/keys/api-key.js';
import { openConnection } from '../../../src/storage/sqlite/connection.js';
import { verify } from '../../../src/storage/sqlite/counters/verify.js';
import { makePrivately } from '../../../src/storage/sqlite/files/opened-file.js';
import { using } from '../../../src/storage/sqlite/files/snapshot.js';
import { inspectFile, openMigrated } from '../../../src/storage/sqlite/migrations/migrate.js';
import { Reader } from '../../../src/storage/sqlite/reader.js';
import { countRows } from '../../../src/storage/sqlite/statements.js';
import { PROJECTS, sizeOf, stretchOf } from '../blocks.js';
import { Checker } from '../checker.js';
import type { Mark } from './marks.js';

/** Finds the problems of a disk. `marks` are those from before the power failed; `at` says where a file is now. */
export type Check = (marks: readonly Mark[], at: (path: string) => string) => Promise<readonly string[]>;

type MarkOf<Kind extends Mark['kind']> = Extract<Mark, { kind: Kind }>;

function marksOf<Kind extends Mark['kind']>(marks: readonly Mark[], kind: Kind): MarkOf<Kind>[] {
  return marks.filter((mark): mark is MarkOf<Kind> => mark.kind === kind);
}

/** Opens a database as a server does at its start, without its threads, and closes it. */
async function withDatabase(
  file: string,
  work: (reader: Reader) => readonly string[],
): Promise<readonly string[]> {
  await makePrivately(file);
  return using(openMigrated(file), (db) => {
    const { damage, differences } = verify(db);
    const wrong = differences.map((one) => `verify: ${JSON.stringify(one)}`);
    return [...damage, ...wrong, ...work(new Reader(db))];
  });
}

/** Every acknowledged query is counted once, batches are complete or absent, and keys work or not as they must. */
export const checkRecording =
  (folder: string): Check =>
  async (marks, at) => {
    const file = at(join(folder, 'data', 'new', 'stats.db'));
    const checker = new Checker();
    const problems = marksOf(marks, 'history').flatMap(({ entry }) => checker.take(entry));
    const found = await withDatabase(file, (reader) => [
      ...countBlocks(reader, checker),
      ...checkKeys(reader, marks),
    ]);
    // It must be readable, or absent, even before the server has started.
    const secrets = await readSecrets(`${file}.secret`);
    for (const { secret, firstRun } of marksOf(marks, 'started')) {
      if (`${secrets.join('\n')}\n` !== secret) problems.push('the secret is another one');
      const shown = existsSync(`${file}.first-run`) ? readFileSync(`${file}.first-run`, 'utf8') : '';
      // A later start replaces the link.
      const [keys = ''] = firstRun.split(/(?=^Set up the dashboard)/m);
      if (!shown.startsWith(keys)) problems.push('the first keys are not shown completely');
    }
    return [...problems, ...found];
  };

/** The last blocks that are counted one by one, because a power failure may lose them. */
const lastBlocks = 5;

/** Counts everything, and the blocks in question alone. */
function countBlocks({ counters }: Reader, checker: Checker): string[] {
  const problems: string[] = [];
  let op = 1_000_000;
  for (const project of PROJECTS) {
    const blocks = [...checker.uncertain(project), ...checker.certain(project).slice(-lastBlocks)];
    for (const range of [ALL_TIME, ...blocks.map(stretchOf)]) {
      problems.push(...checker.take({ kind: 'count', op, project, range }));
      problems.push(...checker.take({ kind: 'counted', op: op++, counts: counters.count(project, range) }));
    }
  }
  return problems;
}

function checkKeys(reader: Reader, marks: readonly Mark[]): string[] {
  const problems: string[] = [];
  const changing = new Set(marksOf(marks, 'key-change').map(({ value }) => value));
  const known = new Map(marksOf(marks, 'key').map((mark) => [mark.value, mark]));
  for (const { value, project, works } of known.values()) {
    const key = reader.findAccess(hashKey(value), project)?.key;
    if (key === undefined) problems.push('a key is gone');
    else if (!works && key.revokedAt === null) problems.push('a revoked key works again');
    else if (works && !changing.has(value) && key.revokedAt !== null) problems.push('a key does not work');
  }
  return problems;
}

/** The versions of the file of `migrating` before and after, and the number of its queries. */
export interface OldFile {
  readonly name: string;
  readonly version: number;
  readonly newest: number;
  readonly queries: number;
}

/** The file has the old or the new schema. With the new one, the copy of the old one is complete. */
export const checkMigrating =
  (folder: string, { name, version, newest, queries }: OldFile): Check =>
  async (marks, at) => {
    const file = at(join(folder, name));
    const problems: string[] = [];
    const now = inspectFile(file);
    const isDone = marksOf(marks, 'migrated').length > 0;
    if (now !== newest && (isDone || now !== version)) problems.push(`the schema has version ${now}`);
    const copy = `${file}.version-${version}`;
    if (existsSync(copy)) problems.push(...checkOld(copy, version, queries));
    else if (now === newest) problems.push('there is no copy of the old version');
    const found = await withDatabase(file, ({ counters }) => {
      const { total } = counters.count('docs', ALL_TIME);
      return total === queries ? [] : [`${total} queries are counted`];
    });
    return [...problems, ...found];
  };

function checkOld(copy: string, version: number, queries: number): string[] {
  const found = inspectFile(copy);
  if (found !== version) return [`the copy of the old version has version ${found}`];
  const rows = using(openConnection(copy), (db) => countRows(db, 'query'));
  return rows === queries ? [] : [`the copy of the old version has ${rows} queries`];
}

/** The blocks of a database, as text. Throws if it is damaged, or a block is there in part. */
function contentsOf(file: string): string {
  return using(openMigrated(file), (db) => {
    const all = db.prepare('SELECT occurred_at AS time FROM query').all() as { time: number }[];
    if (db.prepare('PRAGMA integrity_check(1)').get()['integrity_check'] !== 'ok') throw new Error('damaged');
    const found = new Map<number, number>();
    for (const { time } of all) {
      const block = blockAt(time);
      found.set(block, (found.get(block) ?? 0) + 1);
    }
    for (const [block, rows] of found) if (rows !== sizeOf(block)) throw new Error(`half of block ${block}`);
    return textOf([...found.keys()]);
  });
}

const textOf = (blocks: readonly number[]): string => blocks.toSorted((a, b) => a - b).join();

const blocksByStart = new Map<number, number>();
for (let block = 0; block < 1000; block++) blocksByStart.set(stretchOf(block).from, block);

function blockAt(time: number): number {
  const { from, to } = stretchOf(0);
  const width = to - from;
  const start = from + Math.floor((time - from) / width) * width;
  return blocksByStart.get(start) ?? -1;
}

/** A file with the name of a backup is a complete one, and the last reported one or a newer. */
export const checkBackingUp: Check = async (marks, at) => {
  const begun = marksOf(marks, 'backup');
  const [first] = begun;
  if (first === undefined) return [];
  const { file } = first;
  const done = marksOf(marks, 'backed-up').length;
  if (!existsSync(at(file))) return done === 0 ? [] : ['the backup is gone'];
  const allowed = begun.slice(Math.max(0, done - 1)).map(({ blocks }) => textOf(blocks));
  const contents = contentsOf(at(file));
  return allowed.includes(contents) ? [] : [`the backup has the blocks ${contents}`];
};

/** The database is the old one or the restored one. If it is the restored one, the old one has another name. */
export const checkRestoring: Check = async (marks, at) => {
  const done = new Set(marksOf(marks, 'restored').map(({ file }) => file));
  return marksOf(marks, 'restore').flatMap((mark) => checkRestored(mark, at(mark.file), done.has(mark.file)));
};

function checkRestored({ blocks, old }: MarkOf<'restore'>, file: string, isDone: boolean): string[] {
  if (!existsSync(file)) return old !== null || isDone ? ['the database is gone'] : [];
  const contents = contentsOf(file);
  if (contents !== textOf(blocks))
    return isDone || old === null || contents !== textOf(old)
      ? [`the database has the blocks ${contents}`]
      : [];
  if (old === null) return [];
  const kept = readdirSync(dirname(file)).find(
    (name) => name.startsWith(`${basename(file)}.replaced-`) && !/-(wal|shm|journal)$/.test(name),
  );
  if (kept === undefined) return ['the old database is gone'];
  const isWhole = contentsOf(join(dirname(file), kept)) === textOf(old);
  return isWhole ? [] : ['the old database has lost something'];
}

/** The spool opens, has each query that it took and was not told to forget, and no other. */
export const checkSpooling =
  (folder: string): Check =>
  async (marks, at) => {
    const path = at(join(folder, 'queries.spool'));
    const spool = openSpool(path, { fsync: true });
    // A machine takes a minute to start, after which no lock is respected.
    for (const name of readdirSync(path)) if (name.endsWith('.lock')) utimesSync(join(path, name), 0, 0);
    try {
      const found = new Set(spool.load('docs', () => {}).map(({ id }) => id));
      const settled = new Set(marksOf(marks, 'settling').flatMap(({ ids }) => ids));
      const taken = marksOf(marks, 'spooled').flatMap(({ ids }) => ids);
      const lost = taken.filter((id) => !settled.has(id) && !found.has(id));
      return lost.length === 0 ? [] : [`the spool has lost ${lost}`];
    } finally {
      spool.close();
    }
  };
