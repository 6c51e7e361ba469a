/**
 * Asks users again who they are. Ending a session takes the password, or, from users of single sign-on who have none, having
 * signed in only minutes ago. A change of what signs the user in takes the second factor, too, if there is one: all that a
 * sign-in asks for, also on a device that the user trusts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Assertion } from '../../auth/passkeys/ceremonies.js';
import { freshSessionSeconds } from '../../domain/limits.js';
import { minuteMs, secondMs } from '../../domain/time/duration.js';
import { credentialJson, invalid, optional, readFields, text } from '../request/fields.js';
import { HttpError } from '../server/errors.js';
import type { SignedIn } from './authorize.js';
import type { Dashboard } from './context.js';
import { requireRelyingParty, setCookies } from './requests.js';

/** The request in which the user proves it, and its response, which gets the new token of the session. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The fields of a body that changes what signs the user in. */
export const PROOF = {
  password: optional(text),
  /** Of the authenticator app, or a backup code. */
  code: optional(text),
  /** What a passkey signed, instead of a code. */
  passkey: optional(credentialJson<Assertion['response']>),
};

interface Proof {
  readonly password: string | undefined;
  readonly code: string | undefined;
  readonly passkey: Assertion['response'] | undefined;
}

/** Runs `work`, which ends sessions, after the user proved it with the password in the body, which has no other fields, or without one. */
export async function confirmUser<T>(
  dashboard: Dashboard,
  signedIn: SignedIn,
  exchange: Exchange,
  work: () => Promise<T>,
): Promise<T> {
  const { password } = readFields(exchange.request, { password: optional(text) });
  await checkPassword(dashboard, signedIn, exchange, password);
  return finish(dashboard, signedIn, exchange, work);
}

/** Runs `work`, which changes what signs the user in, after the user proved it with each factor that a sign-in asks for. */
export async function confirmFactors<T>(
  dashboard: Dashboard,
  signedIn: SignedIn,
  { proof, ...exchange }: Exchange & { readonly proof: Proof },
  work: () => Promise<T>,
): Promise<T> {
  const isNeeded = await needsSecondFactor(dashboard, signedIn);
  if (isNeeded && proof.code === undefined && proof.passkey === undefined)
    throw invalid(['code: is missing; type one of your app or a backup code, or use a passkey']);
  await checkPassword(dashboard, signedIn, exchange, proof.password);
  if (isNeeded) await checkSecondFactor(dashboard, signedIn, { ...exchange, proof });
  return finish(dashboard, signedIn, exchange, work);
}

async function checkPassword(
  { users, credentials, loginThrottle }: Dashboard,
  { user, session, auth, by }: SignedIn,
  { request }: Exchange,
  password: string | undefined,
): Promise<void> {
  if (!(await users.hasPassword(user))) {
    if (!isFresh({ session, by })) throw staleSession();
    return;
  }
  if (password === undefined) throw invalid(['password: is missing, or not a text']);
  await loginThrottle.attempt(request, { email: user.email, isSignedIn: true }, () =>
    credentials.checkPassword(auth, password),
  );
}

/** A trusted provider's second factor counts as it does in a sign-in, for as long as that is new. */
async function needsSecondFactor(
  { users, authProvider }: Dashboard,
  { user, session, by }: SignedIn,
): Promise<boolean> {
  if (isFresh({ session, by }) && session.providerFactor && authProvider.trustsProvider) return false;
  return users.ownsSecondFactor(user);
}

/** Wrong codes and passkeys count as those of sign-ins do. */
async function checkSecondFactor(
  dashboard: Dashboard,
  { user, auth }: SignedIn,
  { request, reply, proof: { code, passkey } }: Exchange & { readonly proof: Proof },
): Promise<void> {
  const { credentials, passkeys, loginThrottle } = dashboard;
  if (code !== undefined) return credentials.checkCode(auth, code.trim());
  if (passkey === undefined) return;
  const relyingParty = requireRelyingParty(dashboard, request);
  const attempted = { email: user.email, isSignedIn: true, what: 'passkeys' } as const;
  const checked = await loginThrottle.attempt(request, attempted, () =>
    passkeys.check(auth, { response: passkey, relyingParty }),
  );
  setCookies(reply, checked);
}

async function finish<T>(
  { users, authProvider }: Dashboard,
  { user, auth }: SignedIn,
  { reply }: Exchange,
  work: () => Promise<T>,
): Promise<T> {
  // In a lane: what it hashes takes the places of this user only.
  const result = await authProvider.passwords.inLane('known', work, user.email);
  setCookies(reply, await users.renewSession(auth));
  return result;
}

function isFresh({ session, by }: Pick<SignedIn, 'session' | 'by'>): boolean {
  return by.at - session.createdAt <= freshSessionSeconds * secondMs;
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
