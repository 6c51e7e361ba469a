import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../src/domain/errors.js';
import type { Invitation } from '../../../src/domain/people/invitation.js';
import { SqlDirectoryChanges } from '../../../src/storage/sql/directory-changes.js';
import { SqlDirectoryReads } from '../../../src/storage/sql/directory-reads.js';
import { SQLITE } from '../../../src/storage/sqlite/dialect.js';
import { Statements } from '../../../src/storage/sqlite/statements.js';
import { runUserStatement, SqliteUserTables } from '../../../src/storage/sqlite/user-tables.js';
import { by } from '../../support/storage/entities.js';
import { databaseInMemory } from '../../support/storage/sqlite.js';

/** The directory of a database in memory, its user tables, and the statements that were handed to the writer. */
function open() {
  const db = databaseInMemory();
  const statements = new Statements(db);
  const written: string[] = [];
  const userTables = new SqliteUserTables({
    read: (work) => work({ db }),
    submit: async (statement) => {
      written.push(statement.sql);
      return runUserStatement(db, statement);
    },
  });
  return {
    db,
    changes: new SqlDirectoryChanges(statements, SQLITE),
    reads: new SqlDirectoryReads(statements, SQLITE),
    userTables,
    written,
  };
}

const invitationTo = (email: string, organizationId: string, expiresAt: number): Invitation => ({
  id: `${email} ${organizationId}`,
  organizationId,
  email,
  role: 'editor',
  projects: [],
  tokenHash: `hash of ${email} ${organizationId}`,
  createdBy: 'somebody',
  createdAt: 0,
  expiresAt,
});

test('accepts all invitations of an address that have not expired', async () => {
  const { db, changes, reads } = open();
  for (const id of ['one', 'two', 'late'])
    db.exec(`INSERT INTO organization (id, name, created_at) VALUES ('${id}', 'X', 0)`);
  for (const [email, organizationId, expiresAt] of [
    ['me@x', 'one', by.at + 1],
    ['me@x', 'two', by.at + 1],
    ['me@x', 'late', by.at],
    ['you@x', 'one', by.at + 1],
  ] as const)
    await changes.createInvitation(invitationTo(email, organizationId, expiresAt), { ...by, at: 0 });
  await changes.acceptInvitationsFor('me@x', by);
  expect((await reads.listMemberships('me@x')).map((one) => [one.organizationId, one.role])).toEqual([
    ['one', 'editor'],
    ['two', 'editor'],
  ]);
  expect(await reads.listMemberships('you@x')).toEqual([]);
  expect(await reads.listInvitations('one', by.at)).toMatchObject([{ email: 'you@x' }]);
});

test('sends only statements that write to the writer', async () => {
  const { userTables, written } = open();
  const run = (sql: string) => userTables.run({ sql, parameters: [] });
  const insert = (name: string) =>
    `INSERT INTO server_secret (name, value) SELECT '${name}', 'v' RETURNING name`;
  expect(await run(insert('a'))).toMatchObject({ rows: [{ name: 'a' }], changes: 1 });
  expect(written).toEqual([insert('a')]);
  for (const sql of ['select', 'SELECT', '\n  select'])
    expect((await run(`${sql} name from server_secret`)).rows).toEqual([{ name: 'a' }]);
  expect(written).toEqual([insert('a')]);
});

test('reports only constraint violations as conflicts', async () => {
  const { db, userTables } = open();
  const run = (value: unknown) =>
    userTables.run({
      sql: 'INSERT INTO server_secret (name, value) VALUES (?, ?)',
      parameters: ['a', value],
    });
  await run('v');
  await expect(run('v')).rejects.toMatchObject({ code: 'already_exists' });
  const before = db.prepare('SELECT * FROM server_secret').all();
  await expect(run({})).rejects.not.toBeInstanceOf(CallerStatsError);
  expect(db.prepare('SELECT * FROM server_secret').all()).toEqual(before);
});
