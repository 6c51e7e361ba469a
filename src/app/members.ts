/** Use cases of the people of an organization, for the first start, the command line and the dashboard. */
import { CallerStatsError } from '../domain/errors.js';
import { type ApiKey, keyStatus } from '../domain/keys/api-key.js';
import type { Actor } from '../domain/people/audit.js';
import { type Invitation, newInvitation } from '../domain/people/invitation.js';
import { type Rights, roleAllows } from '../domain/people/member.js';
import type { UserChange } from '../storage/ports/directory.js';
import type { Store } from '../storage/ports/store.js';
import type { Creation } from './projects.js';

/** Creates an invitation. Returns it with the token of its link, which is not stored. */
export async function inviteMember(
  { store, randomInt }: Creation,
  wanted: Pick<Invitation, 'organizationId' | 'email' | keyof Rights>,
  by: Actor,
): Promise<{ readonly invitation: Invitation; readonly token: string }> {
  const invited = newInvitation(wanted, { by, randomInt });
  await store.directory.createInvitation(invited.invitation, by);
  return invited;
}

interface Dismissal {
  readonly organizationId: string;
  readonly email: string;
  /** Null removes the member. */
  readonly rights: Rights | null;
  readonly revokeKeys: boolean;
}

/**
 * Gives a member another role or removes them. Returns the admin keys that they created and that still work, if they may not
 * manage keys any more, or revokes these.
 */
export async function dismissMember(
  store: Pick<Store, 'directory'>,
  { organizationId, email, rights, revokeKeys }: Dismissal,
  by: Actor,
): Promise<readonly ApiKey[]> {
  const maintains = rights !== null && roleAllows(rights.role, 'editor');
  const revokes = revokeKeys && !maintains;
  if (rights === null) await store.directory.removeMember(organizationId, email, by, revokes);
  else await store.directory.changeMember(organizationId, email, rights, by, revokes);
  if (maintains) return [];
  return (await store.directory.listKeysBy(organizationId, email)).filter(
    (key) =>
      key.type === 'admin' &&
      (revokes ? key.revokedAt === by.at : ['active', 'disabled'].includes(keyStatus(key, by.at))),
  );
}

/** The part of the sign-in library that ends sessions. */
export interface SessionEnd {
  /** Ends all sessions of a user and the trust in devices, and returns the number of sessions. */
  readonly endAllSessions: (email: string) => Promise<number>;
}

/**
 * Ends all sessions of a member, also those in which they use other organizations. Owners end none of an account that does not open
 * theirs; an operator does. The audit log of this organization says so. Throws `not_found` for somebody who is not a member.
 */
export async function endMemberSessions(
  { store, users }: { readonly store: Pick<Store, 'directory'>; readonly users: SessionEnd },
  {
    organizationId,
    email,
    isOperator,
  }: { readonly organizationId: string; readonly email: string; readonly isOperator: boolean },
  by: Actor,
): Promise<number> {
  await requireMember(store, organizationId, email);
  const opens = isOperator || (await store.directory.findUsers([email], organizationId)).has(email);
  const ended = opens ? await users.endAllSessions(email) : 0;
  const change = { action: 'user.session_end', detail: `all: ${ended}` } as const;
  await store.directory.logUserChange(email, change, by, organizationId);
  return ended;
}

/** Lets a member sign in as another user of the provider. Throws `not_found` for others, and for an account without a link. */
export async function unlinkMember(
  {
    store,
    users,
  }: {
    readonly store: Pick<Store, 'directory'>;
    readonly users: { readonly unlinkProvider: (email: string) => Promise<void> };
  },
  { organizationId, email }: { readonly organizationId: string; readonly email: string },
  by: Actor,
): Promise<void> {
  await requireMember(store, organizationId, email);
  await users.unlinkProvider(email);
  const change = { action: 'user.single_sign_on', detail: 'unlinked; all sessions ended' } as const;
  await store.directory.logUserChange(email, change, by, organizationId);
}

async function requireMember(
  store: Pick<Store, 'directory'>,
  organizationId: string,
  email: string,
): Promise<void> {
  if ((await store.directory.findMember(organizationId, email)) === undefined)
    throw new CallerStatsError('not_found', `${email} is not a member.`);
}

/** The part of the sign-in library that lets users back in. */
export interface AccountRecovery {
  /** Returns a token that sets a new password. Throws `not_found` for an unknown user. */
  readonly startPasswordReset: (email: string) => Promise<string>;
  /** Removes everything that opens the account, and ends all sessions. Throws `not_found` for an unknown user. */
  readonly removeAll: (email: string) => Promise<void>;
}

/**
 * Lets a user back in: returns the token of a link that sets a new password. With `removeAll`, what opened the account until now stops
 * working first: somebody else may hold it. Also organizations that the account does not open are told, because it may be theirs next.
 */
export async function recoverAccount(
  { store, recovery }: { readonly store: Store; readonly recovery: AccountRecovery },
  { email, removeAll }: { readonly email: string; readonly removeAll: boolean },
  by: Actor,
): Promise<string> {
  const log = async (change: UserChange) => {
    for (const { id } of await store.directory.listOrganizations())
      await store.directory.logUserChange(email, change, by, id);
  };
  if (removeAll) {
    await recovery.removeAll(email);
    await log({ action: 'user.second_factor', detail: 'off; password removed; all sessions ended' });
  }
  const token = await recovery.startPasswordReset(email);
  await log({ action: 'user.password', detail: 'reset link made' });
  return token;
}
