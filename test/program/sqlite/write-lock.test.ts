/** Not part of mutation testing: it waits as long as the store does, a fifth of the time of all other tests. */
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { by, projectOf } from '../../support/storage/store.js';
import { temporaryFolder } from '../../support/temporary.js';

test('counts, and refuses recordings after a wait, while another process holds the write lock', async () => {
  const file = join(await temporaryFolder(), 'store.db');
  const store = await openSqliteStore(file);
  await store.directory.createProject(projectOf('p'), by);
  await store.counts.record('p', [{ id: 'a', caller: 'web', occurredAt: 1 }]);
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  expect((await store.counts.count('p', ALL_TIME)).total).toBe(1);
  await expect(store.counts.record('p', [{ id: 'c', caller: 'web', occurredAt: 0 }])).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/another process is writing/),
  });
  await expect(store.maintenance.checkRecording(0)).rejects.toThrow(/another process is writing/);
  other.exec('ROLLBACK');
  other.close();
  expect(await store.counts.record('p', [{ id: 'c', caller: 'web', occurredAt: 0 }])).toEqual({
    recorded: 1,
    duplicates: 0,
  });
  await store.maintenance.checkRecording(1);
  await store.close();
});
