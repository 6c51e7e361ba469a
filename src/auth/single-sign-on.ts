/** Users of an OpenID Connect provider: who may sign in, and what becomes of an account that had the address before. */
import type { BetterAuthOptions, DBAdapter } from 'better-auth';
import { toEmail } from '../domain/people/member.js';
import { PROVIDER_ID, type SignInProblem } from './names.js';
import type { LibraryContext } from './second-factor/library-context.js';
import { noteClaims } from './second-factor/provider-claims.js';
import { removeSecondFactors } from './second-factor/stored-factor.js';
import { forgetPending } from './second-factor/trusted-devices.js';

type ValidateUserInfo = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;

/**
 * Admits members whose address the provider has verified. The provider may give an address to another person, so an account
 * that is linked to one of its users is not opened by another with the same address, nor by the same user with another address.
 */
export function admit({
  mayJoin,
}: {
  readonly mayJoin: (email: string) => Promise<boolean>;
}): ValidateUserInfo {
  return async ({ user, source }, { context }) => {
    if (source.method !== 'oauth') return undefined;
    const { email: claimed = user.email } = (source.oauth?.profile ?? {}) as { readonly email?: unknown };
    if (user.emailVerified !== true || !isAscii(claimed) || !isAscii(user.email))
      return { error: 'unverified_email' satisfies SignInProblem };
    const email = toEmail(user.email);
    // Every member has an address of this form.
    if (email === undefined) return { error: 'not_a_member' satisfies SignInProblem };
    const account = { id: String(user.id), email };
    const problem = await findOtherUser(context.internalAdapter, source.action, account);
    if (problem !== undefined) return { error: problem };
    if (!(await mayJoin(account.email))) return { error: 'not_a_member' satisfies SignInProblem };
    noteClaims(context, source.oauth?.profile);
    return undefined;
  };
}

/** Whether the account, if there is one, is that of another user of the provider, or of the same user with another address. */
async function findOtherUser(
  internalAdapter: LibraryContext['context']['internalAdapter'],
  action: string,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<SignInProblem | undefined> {
  if (action === 'sign-in')
    return (await internalAdapter.findUserById(id))?.email === email ? undefined : 'address_changed';
  if (action !== 'link-account') return undefined;
  const accounts = await internalAdapter.findAccounts(id);
  return accounts.some(({ providerId }) => providerId === PROVIDER_ID) ? 'linked_to_another' : undefined;
}

/** Small letters of a few other characters are ASCII: the address of another person would become that of a member. */
function isAscii(email: unknown): email is string {
  return typeof email === 'string' && /^[\u0021-\u007e]+$/.test(email);
}

interface Tables {
  readonly internalAdapter: LibraryContext['context']['internalAdapter'];
  readonly adapter: Pick<DBAdapter, 'deleteMany'>;
}

/**
 * Removes everything that opens an account whose address nobody verified, because the person at the provider is the first to
 * prove it: a stranger who got hold of the invitation link may have created it. Returns the address of such an account.
 */
export async function takeOver(tables: Tables, userId: string): Promise<string | undefined> {
  const user = await tables.internalAdapter.findUserById(userId);
  if (user === null || user.emailVerified) return undefined;
  await removeCredentials(tables, userId);
  return user.email;
}

/** Removes everything that opens an account, except the user of the provider that it belongs to. */
export async function removeCredentials(tables: Tables, userId: string): Promise<void> {
  const { internalAdapter, adapter } = tables;
  await forgetPending(adapter, userId);
  const password = [
    { field: 'userId', value: userId },
    { field: 'providerId', value: 'credential' },
  ];
  await adapter.deleteMany({ model: 'account', where: password });
  await removeSecondFactors(tables, userId);
  await internalAdapter.deleteUserSessions(userId);
}
