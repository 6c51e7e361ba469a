/** The statements of the page on privacy delete the account of a former member with all that belongs to it. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStore } from '../../../src/storage/sqlite/store.js';
import { samples } from '../../support/cli/samples.js';
import { withFile } from '../../support/storage/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { addUser } from '../../support/users/people.js';

const FORMER = 'former@example.org';

test('an account is deleted with its sessions, passwords and second factors, and no other one', async () => {
  const file = join(await temporaryFolder(), 'store.db');
  const store = await openSqliteStore(file);
  for (const email of [FORMER, 'present@example.org']) await addUser(store, email);
  await store.close();
  const [sample] = samples().filter(
    ({ language, page }) => language === 'sql' && page.endsWith('privacy.md'),
  );
  const left = withFile(file, (db) => {
    const time = '2026-01-01T00:00:00.000Z';
    db.exec(`
      INSERT INTO user_session (id, token, user_id, expires_at, created_at, updated_at)
        SELECT id, id, id, '${time}', '${time}', '${time}' FROM user_account;
      INSERT INTO user_credential (id, user_id, account_id, provider_id, created_at, updated_at)
        SELECT id, id, id, 'credential', '${time}', '${time}' FROM user_account;
      INSERT INTO user_second_factor (id, user_id, secret, backup_codes) SELECT id, id, '', '' FROM user_account;
      PRAGMA foreign_keys = OFF`);
    db.exec(sample?.code ?? '');
    const tables = ['user_account', 'user_session', 'user_credential', 'user_second_factor'];
    return tables.map((table) => db.prepare(`SELECT id FROM ${table}`).all());
  });
  const present = [{ id: 'id of present@example.org' }];
  expect(left).toEqual([present, present, present, present]);
});
