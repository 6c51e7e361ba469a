/** What the writer of a file does as a whole, or not at all. */
import { readdir, readFile } from 'node:fs/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { nextLoopTurn } from '../../../src/shared/fair-share.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { whenOver } from '../../support/cleanup.js';
import { by, projectOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

/** Which of the database's files have this text in them. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const name of await readdir(folder))
    if ((await readFile(`${folder}/${name}`)).includes(text)) found.push(name);
  return found;
}

test('a purge removes all traces of a deleted project from the files', async () => {
  const folder = await temporaryFolder();
  const store = await openSqliteStore(`${folder}/store.db`);
  whenOver(() => store.close());
  await store.directory.createProject(projectOf('docs'), by);
  const ids = Array.from({ length: 2000 }, (_, at) => `asked by somebody ${at}`);
  await store.counts.record(
    'docs',
    ids.map((id, at) => ({ id, caller: 'web', occurredAt: at })),
  );
  expect(await filesWith(folder, 'asked by somebody')).not.toEqual([]);
  await store.directory.deleteProject('default', 'docs', by);
  while (!(await store.maintenance.purgeDeleted(500)).done);
  expect(await filesWith(folder, 'asked by somebody')).toEqual([]);
});

test('an error in one recording undoes all that share its transaction', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  const store = await openSqliteStore(file);
  whenOver(() => store.close());
  await store.directory.createProject(projectOf('docs'), by);
  const other = new DatabaseSync(file);
  other.exec(`
    CREATE TRIGGER refuse BEFORE INSERT ON caller WHEN new.name = 'refused'
    BEGIN SELECT RAISE(ABORT, 'refused for a test'); END`);
  other.close();

  const record = (id: string, caller: string) => store.counts.record('docs', [{ id, caller, occurredAt: 0 }]);
  const first = record('a', 'web');
  await nextLoopTurn();
  // Those behind it wait together.
  const others = [record('b', 'slack'), record('c', 'refused'), record('d', 'web')];
  const settled = await Promise.allSettled([first, ...others]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  expect(await store.counts.count('docs', ALL_TIME)).toEqual({ web: 1, api: 0, other: 0, total: 1 });
  // The number that its caller had is undone, too.
  await expect(record('b', 'slack')).resolves.toEqual({ recorded: 1, duplicates: 0 });
  expect((await store.counts.count('docs', ALL_TIME, 'slack')).total).toBe(1);
  expect((await store.maintenance.verify()).differencesTotal).toBe(0);
});
