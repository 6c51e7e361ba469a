/**
 * Asks for the second factor after single sign-on. The library asks only after a password. What it needs for the second step
 * is created here in its own form.
 */
import type { BetterAuthPlugin } from 'better-auth';
import { createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { deleteSessionCookie } from 'better-auth/cookies';
import { generateRandomString } from 'better-auth/crypto';
import { secondMs } from '../../domain/time/duration.js';
import type { LibraryContext } from './library-context.js';
import { findClaims, hasSecondFactor } from './provider-claims.js';
import { isTrustedDevice } from './trusted-devices.js';

export const SECOND_FACTOR_TABLE = 'user_second_factor';

/** How long the second step may take. */
const challengeSeconds = 600;

/** The id of the user whose code a request has: the signed-in one, or the one whose password was right. */
export async function findChallengedUser(context: LibraryContext): Promise<string | undefined> {
  const session = await getSessionFromCtx(context);
  if (session !== null) return session.user.id;
  const { name } = context.context.createAuthCookie('two_factor');
  const challenge = await context.getSignedCookie(name, context.context.secret);
  if (!challenge) return undefined;
  return (await context.context.internalAdapter.findVerificationValue(challenge))?.value;
}

interface ChallengeOptions {
  /** Whether the provider's own second factor is enough. */
  readonly trustsProvider: boolean;
  /** The path of the page that asks for the code. */
  readonly signInPath: string;
}

export function challengeSingleSignOn({ trustsProvider, signInPath }: ChallengeOptions) {
  const handler = createAuthMiddleware(async (context) => {
    const { newSession, internalAdapter, secret, createAuthCookie, returned } = context.context;
    if (!newSession) return;
    const nowMs = newSession.session.createdAt.getTime();
    // Read again: linking the account may have removed the factor.
    const user = await internalAdapter.findUserById(newSession.user.id);
    if ((user as { readonly twoFactorEnabled?: unknown } | null)?.twoFactorEnabled !== true) return;
    if (trustsProvider && hasSecondFactor(findClaims(context.context))) return;
    if (await isTrustedDevice(context, { userId: newSession.user.id, nowMs })) return;
    deleteSessionCookie(context, true);
    await internalAdapter.deleteSession(newSession.session.token);
    context.context.setNewSession(null);
    const identifier = `2fa-${generateRandomString(20)}`;
    const expiresAt = new Date(nowMs + challengeSeconds * secondMs);
    await internalAdapter.createVerificationValue({ identifier, value: newSession.user.id, expiresAt });
    // The number of codes that were tried.
    const attempts = { identifier: `2fa-attempts-${identifier}`, value: '0', expiresAt };
    await internalAdapter.createVerificationValue(attempts);
    const { name, attributes } = createAuthCookie('two_factor', { maxAge: challengeSeconds });
    await context.setSignedCookie(name, identifier, secret, attributes);
    const to = (returned as { readonly headers?: Headers } | undefined)?.headers?.get('location') ?? '/';
    throw context.redirect(`${signInPath}?second-factor=1&to=${encodeURIComponent(to)}`);
  });
  return {
    id: 'single-sign-on-challenge',
    hooks: { after: [{ matcher: ({ path }) => path?.startsWith('/callback/') === true, handler }] },
  } satisfies BetterAuthPlugin;
}
