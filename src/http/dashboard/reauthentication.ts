/**
 * Asks users who change a second factor or end a session to prove again who they are: with their password, or, if they have
 * none because they use single sign-on, by having signed in only minutes ago.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { freshSessionSeconds } from '../../domain/limits.js';
import { minuteMs, secondMs } from '../../domain/time/duration.js';
import { invalid, optional, readFields, text } from '../request/fields.js';
import { HttpError } from '../server/errors.js';
import type { SignedIn } from './authorize.js';
import type { Dashboard } from './context.js';
import { setCookies } from './requests.js';

/** The request in which the user proves it, and its response, which gets the new token of the session. */
interface Proof {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Runs `work`, which compares the password that it gets. It gets none if the user has none. */
export async function reauthenticate<T>(
  { users, loginThrottle }: Pick<Dashboard, 'users' | 'loginThrottle'>,
  { user, session, auth, by }: SignedIn,
  { request, reply, password }: Proof & { readonly password: string | undefined },
  work: (password: string | undefined) => Promise<T>,
): Promise<T> {
  if (!(await users.hasPassword(user))) {
    if (by.at - session.createdAt > freshSessionSeconds * secondMs) throw staleSession();
    return work(undefined);
  }
  if (password === undefined) throw invalid(['password: is missing, or not a text']);
  const who = { email: user.email, isSignedIn: true };
  const result = await loginThrottle.attempt(request, who, () => work(password));
  setCookies(reply, await users.renewSession(auth));
  return result;
}

/** Runs `work` after that, with the password in the body, which has no other fields. */
export async function confirmUser<T>(
  dashboard: Pick<Dashboard, 'users' | 'loginThrottle' | 'credentials'>,
  signedIn: SignedIn,
  { request, reply }: Proof,
  work: () => Promise<T>,
): Promise<T> {
  const { password } = readFields(request, { password: optional(text) });
  return reauthenticate(dashboard, signedIn, { request, reply, password }, async (given) => {
    if (given !== undefined) await dashboard.credentials.checkPassword(signedIn.auth, given);
    return work();
  });
}

/** Refuses to remove a user's last second factor while an organization of theirs requires one. `left`: how many remain. */
export async function keepRequiredFactor(
  { store, authProvider }: Pick<Dashboard, 'store' | 'authProvider'>,
  { user, session }: SignedIn,
  left: number,
): Promise<void> {
  if (left > 0 || (session.providerFactor && authProvider.trustsProvider)) return;
  const memberships = await store.listMemberships(user.email);
  const requiring = memberships.find(({ secondFactor }) => secondFactor === 'required');
  if (requiring === undefined) return;
  const message = `${requiring.organizationName} requires a second factor. Add another one before you remove this one.`;
  throw new HttpError(409, message);
}

function staleSession(): HttpError {
  const minutes = (freshSessionSeconds * secondMs) / minuteMs;
  return new HttpError(
    403,
    `Sign in again first: this can be changed for ${minutes} minutes after signing in.`,
  );
}
