import { expect, test } from 'vitest';
import { CallerStatsError } from '../../../../src/domain/errors.js';
import type { Invitation } from '../../../../src/domain/people/invitation.js';
import { SqlitePeople } from '../../../../src/storage/sqlite/people.js';
import { Writer } from '../../../../src/storage/sqlite/writer/writer.js';
import { by } from '../../../support/entities.js';
import { databaseInMemory } from '../../../support/sqlite.js';

/** People of a database in memory, and the kinds of what was handed to the writer. */
function open() {
  const db = databaseInMemory();
  const writer = new Writer(db);
  const written: string[] = [];
  const people = new SqlitePeople({
    read: (read) => read(db),
    submit: async (operation) => {
      written.push(operation.kind);
      const [outcome] = writer.commit([operation]);
      if (outcome?.ok) return outcome.value;
      throw new CallerStatsError(outcome?.code ?? 'unavailable', outcome?.message ?? '');
    },
  });
  return { db, people, written };
}

const invitationTo = (email: string, organizationId: string, expiresAt: number): Invitation => ({
  id: `${email} ${organizationId}`,
  organizationId,
  email,
  role: 'editor',
  tokenHash: `hash of ${email} ${organizationId}`,
  createdBy: 'somebody',
  createdAt: 0,
  expiresAt,
});

test('all invitations of an address are accepted that are not over, and no others', async () => {
  const { db, people } = open();
  for (const id of ['one', 'two', 'late'])
    db.exec(`INSERT INTO organization (id, name, created_at) VALUES ('${id}', 'X', 0)`);
  for (const [email, organizationId, expiresAt] of [
    ['me@x', 'one', by.at + 1],
    ['me@x', 'two', by.at + 1],
    ['me@x', 'late', by.at],
    ['you@x', 'one', by.at + 1],
  ] as const)
    await people.createInvitation(invitationTo(email, organizationId, expiresAt), { ...by, at: 0 });
  await people.acceptInvitationsOf('me@x', by);
  expect((await people.listMemberships('me@x')).map((one) => [one.organizationId, one.role])).toEqual([
    ['one', 'editor'],
    ['two', 'editor'],
  ]);
  expect(await people.listMemberships('you@x')).toEqual([]);
  expect(await people.listInvitations('one', by.at)).toMatchObject([{ email: 'you@x' }]);
});

test('statements that only read never go to the writer, and those that write always do', async () => {
  const { people, written } = open();
  const run = (sql: string) => people.userTables.run({ sql, parameters: [] });
  const insert = (name: string) =>
    `INSERT INTO server_secret (name, value) SELECT '${name}', 'v' RETURNING name`;
  expect(await run(insert('a'))).toMatchObject({ rows: [{ name: 'a' }], changes: 1 });
  expect(written).toEqual(['userStatement']);
  for (const sql of ['select', 'SELECT', '\n  select'])
    expect((await run(`${sql} name from server_secret`)).rows).toEqual([{ name: 'a' }]);
  expect(written).toEqual(['userStatement']);
});

test('of what fails only a conflict is one', async () => {
  const { db, people } = open();
  const run = (value: unknown) =>
    people.userTables.run({
      sql: 'INSERT INTO server_secret (name, value) VALUES (?, ?)',
      parameters: ['a', value],
    });
  await run('v');
  await expect(run('v')).rejects.toMatchObject({ code: 'already_exists' });
  const before = db.prepare('SELECT * FROM server_secret').all();
  await expect(run({})).rejects.not.toBeInstanceOf(CallerStatsError);
  expect(db.prepare('SELECT * FROM server_secret').all()).toEqual(before);
});
