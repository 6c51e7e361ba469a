/** People in a store, past the library that signs them in: for tests of what the store itself promises. */
import type { Actor } from '../../../src/domain/people/audit.js';
import type { Invitation } from '../../../src/domain/people/invitation.js';
import type { Member, Rights, Role } from '../../../src/domain/people/member.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import type { Store } from '../../../src/storage/ports/store.js';
import type { UserStatementResult } from '../../../src/storage/ports/user-tables.js';
import { by } from '../storage/entities.js';

const someTime = '2026-01-01T00:00:00.000Z';

/** Of every role but a reader's. */
export function rightsOf(role: Role): Rights {
  return { role, projects: [] };
}

export function memberOf(email: string, more: Partial<Member> = {}): Member {
  return { organizationId: DEFAULT_ORGANIZATION_ID, email, ...rightsOf('viewer'), createdAt: 1000, ...more };
}

/** An invitation whose token's hash is `hash of` its id, good from 1000 until 9000. */
export function invitationOf(
  id: string,
  email: string | null,
  role: Role,
  more: Partial<Invitation> = {},
): Invitation {
  return {
    id,
    organizationId: DEFAULT_ORGANIZATION_ID,
    email,
    ...rightsOf(role),
    tokenHash: `hash of ${id}`,
    createdBy: 'a test',
    createdAt: 1000,
    expiresAt: 9000,
    ...more,
  };
}

/**
 * Runs a statement on the tables of users as their library makes them. `{table}` stands for a table, `?` for the next
 * parameter; a truth is one of the database's own kind.
 */
export function runOnUsers(
  { users }: Pick<Store, 'users'>,
  sql: string,
  parameters: readonly (string | number | boolean | null)[] = [],
): Promise<UserStatementResult> {
  const { dialect, schema } = users;
  let number = 0;
  const text = sql
    .replaceAll(/\{(\w+)\}/g, schema === undefined ? '$1' : `${schema}.$1`)
    .replaceAll('?', () => (dialect === 'sqlite' ? '?' : `$${++number}`));
  const values = parameters.map((value) =>
    typeof value === 'boolean' && dialect === 'sqlite' ? Number(value) : value,
  );
  return users.run({ sql: text, parameters: values });
}

/**
 * Makes an account, with no password: somebody who can sign in, as far as the store is asked. A provider has verified the address,
 * unless told otherwise.
 */
export async function addUser(
  store: Pick<Store, 'users'>,
  email: string,
  {
    name = email,
    createdAt = someTime,
    isVerified = true,
  }: { readonly name?: string; readonly createdAt?: string; readonly isVerified?: boolean } = {},
): Promise<void> {
  await runOnUsers(
    store,
    `INSERT INTO {user_account} (id, name, email, email_verified, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
    [`id of ${email}`, name, email, isVerified, createdAt, createdAt],
  );
}

/** Who does something at this time. */
export const at = (time: number): Actor => ({ ...by, at: time });

/** Of what was done at once: how many times it was done, and the codes of what was refused. */
export async function outcomesOf(
  work: readonly Promise<unknown>[],
): Promise<{ done: number; codes: unknown[] }> {
  const settled = await Promise.allSettled(work);
  return {
    done: settled.filter(({ status }) => status === 'fulfilled').length,
    codes: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : [])),
  };
}

/** The organization's audit log, oldest entry first, as `action target (detail)`. */
export async function logOf(store: Store, organizationId = DEFAULT_ORGANIZATION_ID): Promise<string[]> {
  const entries = await store.directory.readAudit(organizationId, { limit: 100 });
  return entries.toReversed().map(({ action, targetId, detail }) => `${action} ${targetId} (${detail})`);
}
