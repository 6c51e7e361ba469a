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

/** Runs `work` after the user proved it with the password in the body, which has no other fields, or without one. */
export async function confirmUser<T>(
  { users, loginThrottle, credentials }: Pick<Dashboard, 'users' | 'loginThrottle' | 'credentials'>,
  { user, session, auth, by }: SignedIn,
  { request, reply }: Proof,
  work: () => Promise<T>,
): Promise<T> {
  const { password } = readFields(request, { password: optional(text) });
  if (!(await users.hasPassword(user))) {
    if (by.at - session.createdAt > freshSessionSeconds * secondMs) throw staleSession();
    return work();
  }
  if (password === undefined) throw invalid(['password: is missing, or not a text']);
  const result = await loginThrottle.attempt(request, { email: user.email, isSignedIn: true }, async () => {
    await credentials.checkPassword(auth, password);
    return work();
  });
  setCookies(reply, await users.renewSession(auth));
  return result;
}

/** Refuses to remove a user's last second factor while an organization of theirs requires one. `left`: how many remain. */
export async function keepRequiredFactor(
  { store, authProvider }: Pick<Dashboard, 'store' | 'authProvider'>,
  { user, session }: SignedIn,
  left: number,
): Promise<void> {
  if (left > 0 || (session.providerFactor && authProvider.trustsProvider)) return;
  const memberships = await store.directory.listMemberships(user.email);
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
