/**
 * Challenges of passkeys. The browser keeps its challenge in a signed cookie, so that starting a sign-in stores nothing, however
 * often unauthenticated clients do it. The store remembers each challenge that was used until it expires: it works once, on any
 * number of nodes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { expireCookie } from 'better-auth/cookies';
import { passkeyChallengeSeconds } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import type { LibraryContext } from '../second-factor/library-context.js';

/** A challenge of one purpose is useless for the others. */
export type Purpose = 'register' | 'sign-in' | 'second-factor' | 'check';

interface Ceremony {
  readonly purpose: Purpose;
  /** The user who must answer; empty if the passkey decides. */
  readonly userId: string;
}

const COOKIE = 'passkey';

/** Creates a challenge and gives the browser its cookie. */
export async function issueChallenge(
  context: LibraryContext,
  { purpose, userId }: Ceremony,
  clock: Clock,
): Promise<string> {
  const challenge = randomBytes(32).toString('base64url');
  const expiresAt = clock.now() + passkeyChallengeSeconds * secondMs;
  const { name, attributes } = context.context.createAuthCookie(COOKIE, { maxAge: passkeyChallengeSeconds });
  const value = [purpose, userId, expiresAt, challenge].join('.');
  await context.setSignedCookie(name, value, context.context.secret, attributes);
  return challenge;
}

/** The challenge of the browser, if it is for this ceremony and has not expired. */
export async function findChallenge(
  context: LibraryContext,
  { purpose, userId }: Ceremony,
  clock: Clock,
): Promise<string | undefined> {
  const { name } = context.context.createAuthCookie(COOKIE);
  const value = await context.getSignedCookie(name, context.context.secret);
  const [of, by, expiresAt, challenge] = (value || '').split('.');
  return of === purpose && by === userId && Number(expiresAt) > clock.now() ? challenge : undefined;
}

/** Uses a challenge, in one statement. False if it was used before. */
export async function redeemChallenge(
  context: LibraryContext,
  challenge: string,
  { throttles, clock }: { readonly throttles: Pick<Throttles, 'take'>; readonly clock: Clock },
): Promise<boolean> {
  expireCookie(context, context.context.createAuthCookie(COOKIE));
  const key = createHash('sha256').update(`passkey challenge ${challenge}`).digest('base64url');
  // The window ends after the challenge has expired.
  const limit = { attemptsMax: 1, windowMs: passkeyChallengeSeconds * secondMs };
  return (await throttles.take(key, limit, clock.now())).isAllowed;
}
