/** Asks for the second factor after a password and after single sign-on: the second step of signing in. */
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware } from 'better-auth/api';
import { deleteSessionCookie, expireCookie, setSessionCookie } from 'better-auth/cookies';
import { generateRandomString } from 'better-auth/crypto';
import { secondStepSeconds } from '../../domain/limits.js';
import { secondMs } from '../../domain/time/duration.js';
import { findPasskeys } from '../passkeys/passkey-rows.js';
import type { LibraryContext } from './library-context.js';
import { findClaims, provesSecondFactor } from './provider-claims.js';
import { renewTrust, trustDevice } from './trusted-devices.js';

interface SecondStep {
  readonly identifier: string;
  readonly userId: string;
}

/** The second step that the browser has to take, and its user, whose password was right. */
export async function findSecondStep(context: LibraryContext): Promise<SecondStep | undefined> {
  const { name } = context.context.createAuthCookie('two_factor');
  const identifier = await context.getSignedCookie(name, context.context.secret);
  if (!identifier) return undefined;
  const found = await context.context.internalAdapter.findVerificationValue(identifier);
  return found === null ? undefined : { identifier, userId: found.value };
}

/** Begins the session of the user; undefined if the step was finished before. */
export async function finishSecondStep(
  context: LibraryContext,
  { identifier, userId }: SecondStep,
  { trustDevice: isTrusted }: { readonly trustDevice: boolean },
) {
  const { internalAdapter, createAuthCookie } = context.context;
  const user = await internalAdapter.findUserById(userId);
  if (user === null) return undefined;
  const session = await internalAdapter.createSession(userId, false);
  // In one statement: a step is finished once, with a code or with a passkey. After the session: what ends all of them ends the step before.
  const consumed = await internalAdapter.consumeVerificationValue(identifier);
  expireCookie(context, createAuthCookie('two_factor'));
  if (consumed?.value !== userId) {
    await internalAdapter.deleteSession(session.token);
    return undefined;
  }
  await setSessionCookie(context, { session, user });
  if (isTrusted) await trustDevice(context, userId, session.createdAt.getTime());
  return user;
}

interface ChallengeOptions {
  /** Whether the provider's own second factor is enough. */
  readonly trustsProvider: boolean;
  /** The path of the page that asks for the code. */
  readonly signInPath: string;
}

export function challengeSecondFactor({ trustsProvider, signInPath }: ChallengeOptions) {
  const afterProvider = createAuthMiddleware(async (context) => {
    const { newSession, returned } = context.context;
    if (!newSession || !(await hasSecondFactor(context, newSession.user.id))) return;
    if (trustsProvider && provesSecondFactor(findClaims(context.context))) return;
    if (!(await beginSecondStep(context))) return;
    const to = (returned as { readonly headers?: Headers } | undefined)?.headers?.get('location') ?? '/';
    throw context.redirect(`${signInPath}?second-factor=1&to=${encodeURIComponent(to)}`);
  });
  const afterPassword = createAuthMiddleware(async (context) => {
    const { newSession } = context.context;
    if (!newSession || !(await hasSecondFactor(context, newSession.user.id))) return;
    return (await beginSecondStep(context)) ? context.json({ secondFactor: true }) : undefined;
  });
  return {
    id: 'second-factor-challenge',
    hooks: {
      after: [
        { matcher: ({ path }) => path?.startsWith('/callback/') === true, handler: afterProvider },
        { matcher: ({ path }) => path === '/sign-in/email', handler: afterPassword },
      ],
    },
  } satisfies BetterAuthPlugin;
}

/** Reads the user again: linking the account may have removed the factor. */
async function hasSecondFactor({ context }: LibraryContext, userId: string): Promise<boolean> {
  const user = await context.internalAdapter.findUserById(userId);
  return (
    (user as { readonly twoFactorEnabled?: unknown } | null)?.twoFactorEnabled === true ||
    (await findPasskeys(context.adapter, userId)).length > 0
  );
}

/** Ends the new session and begins the second step instead. False if the user trusts the device. */
async function beginSecondStep(context: LibraryContext): Promise<boolean> {
  const { newSession, internalAdapter, secret, createAuthCookie } = context.context;
  if (!newSession) return false;
  const { session, user } = newSession;
  const nowMs = session.createdAt.getTime();
  if (await renewTrust(context, { userId: user.id, nowMs })) return false;
  deleteSessionCookie(context, true);
  await internalAdapter.deleteSession(session.token);
  context.context.setNewSession(null);
  const identifier = `2fa-${generateRandomString(32)}`;
  const expiresAt = new Date(nowMs + secondStepSeconds * secondMs);
  await internalAdapter.createVerificationValue({ identifier, value: user.id, expiresAt });
  const { name, attributes } = createAuthCookie('two_factor', { maxAge: secondStepSeconds });
  await context.setSignedCookie(name, identifier, secret, attributes);
  return true;
}
