/**
 * Limits the guessing of passwords and codes without locking anybody out, after OWASP's "Slow Down Online Guessing Attacks
 * with Device Cookies". A browser that has signed in as a user gets a cookie and has a count of its own.
 * Failures of all other browsers are counted for the user they try, and for their address. So strangers cannot block the
 * browsers that the user has signed in with.
 *
 * The counts are in the store, so all processes and nodes share them, and restarts do not reset them. While the store is
 * unavailable, nobody can sign in.
 *
 * Hashing is bounded, too, for each process: known browsers and people with a session have their own lane (see
 * `PasswordHasher`). Refusals of all others are delayed, so that clients that repeat them immediately cost little.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthProvider } from '../../auth/auth-provider.js';
import { cookiePrefix } from '../../auth/names.js';
import { CallerStatsError } from '../../domain/errors.js';
import { sharedNetworksOf } from '../../domain/keys/networks.js';
import {
  addressFailuresMax,
  deviceCookieSeconds,
  guessesMax,
  guessWindowSeconds,
  refusedSignInsMax,
  shareGuessesMax,
  wideNetworkFactor,
} from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { PacedQueue, REFUSAL_PACE } from '../admission/paced-queue.js';
import { getClientAddress } from '../request/target.js';
import { HttpError } from '../server/errors.js';

/** Of the signatures of this file. */
const PURPOSE = 'device';

interface LoginThrottleOptions {
  readonly authProvider: AuthProvider;
  readonly throttles: Throttles;
  readonly clock: Clock;
}

/** An attempt that was counted, by a keyed hash, so that the store has no addresses of people. */
type Counted = { readonly key: string; readonly resetsAt: number };

type Limit = readonly [subject: string, attemptsMax: number];

/** Who is tried, and with what. There is no user for an unknown passkey or for the password of a share link. */
interface Attempted {
  readonly email: string | undefined;
  /** The id of the share link whose password is tried. */
  readonly shareLinkId?: string | undefined;
  readonly isSignedIn?: boolean;
  readonly what?: 'passwords' | 'passkeys';
}

/** The user that an attempt is for, and the id of the browser if it has signed in as that user before. */
type Guesser = Pick<Attempted, 'email' | 'shareLinkId' | 'what'> & { readonly device: string | undefined };

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  readonly #refusals = new PacedQueue(REFUSAL_PACE);
  readonly #warn: ReturnType<typeof createThrottledWarning>;

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
    this.#warn = createThrottledWarning(options.clock);
  }

  /**
   * Runs `check`, which compares a secret of the user, or throws `429` after too many failures, and `503` if too many people
   * sign in at once. An attempt counts as a failure while it runs, so that parallel attempts cannot pass the limit. Unless it
   * fails with `wrong_credentials`, it is then taken back.
   */
  async attempt<T>(
    request: FastifyRequest,
    { email, shareLinkId, isSignedIn = false, what = 'passwords' }: Attempted,
    check: () => Promise<T>,
  ): Promise<T> {
    const device = email === undefined ? undefined : await this.#findDevice(request, email);
    const lane = isSignedIn || device !== undefined ? 'known' : 'stranger';
    try {
      // A place comes first: an attempt without one does not reach the store.
      return await this.#options.authProvider.passwords.inLane(
        lane,
        () => this.#counted(request, { email, shareLinkId, device, what }, check),
        lane === 'known' ? email : networkOf(getClientAddress(request)),
      );
    } catch (error) {
      const isBusy = error instanceof CallerStatsError && error.code === 'busy';
      if (isBusy) {
        this.#options.authProvider.log.count('busy');
        this.#warn(request.log, { lane }, 'sign-ins are refused: too many at once');
      }
      if (lane === 'stranger' && (isBusy || error instanceof HttpError)) await this.#waitToRefuse();
      throw error;
    }
  }

  /** So that a sender who repeats refused requests at once takes little time from others. */
  async #waitToRefuse(): Promise<void> {
    if (this.#refusals.length < refusedSignInsMax) await this.#refusals.next();
  }

  async #counted<T>(request: FastifyRequest, who: Guesser, check: () => Promise<T>): Promise<T> {
    const counted = await this.#count(request, who);
    let isWrong = false;
    try {
      return await check();
    } catch (error) {
      isWrong = error instanceof CallerStatsError && error.code === 'wrong_credentials';
      throw error;
    } finally {
      if (isWrong) await this.#record('failure', request, who);
      else await this.#takeBack(counted);
    }
  }

  /**
   * Records that the user signed in, and how: undefined with the account that was just created. Remembers the browser with a
   * cookie; see `trustBrowser`.
   */
  async succeeded(
    request: FastifyRequest,
    reply: FastifyReply,
    { email, how }: { readonly email: string; readonly how: string | undefined },
  ): Promise<void> {
    const { log } = this.#options.authProvider;
    if (how === undefined) log.count('sign_in');
    else await log.signedIn({ email, address: getClientAddress(request), how });
    await this.trustBrowser(request, reply, email);
  }

  /** Remembers the browser of a user, or forgets the failures of one that is remembered. */
  async trustBrowser(request: FastifyRequest, reply: FastifyReply, email: string): Promise<void> {
    const device = await this.#findDevice(request, email);
    if (device !== undefined) {
      await this.#options.throttles.reset(await this.#sign(`attempts of device ${device}`));
      return;
    }
    const id = randomBytes(16).toString('base64url');
    const { name, ...attributes } = this.#cookieFor(request);
    reply.setCookie(name, `${id}.${await this.#sign(`device ${id} ${email}`)}`, {
      httpOnly: true,
      sameSite: 'strict',
      ...attributes,
      maxAge: deviceCookieSeconds,
    });
  }

  /** Counts an attempt: of the browser if it is known, else of the user and of the address. Throws `429` above a limit. */
  async #count(request: FastifyRequest, guesser: Guesser): Promise<readonly Counted[]> {
    const { email, shareLinkId, device } = guesser;
    const ofUser: Limit = [`attempts of user ${email}`, guessesMax];
    const ofLink: Limit = [`attempts of share link ${shareLinkId}`, shareGuessesMax];
    const ofAddress = limitsOfAddress(getClientAddress(request));
    const limits: readonly Limit[] =
      device === undefined
        ? [
            ...(email === undefined ? [] : [ofUser]),
            ...(shareLinkId === undefined ? [] : [ofLink]),
            ...ofAddress,
          ]
        : [[`attempts of device ${device}`, guessesMax]];
    const nowMs = this.#options.clock.now();
    const counted: Counted[] = [];
    for (const [subject, attemptsMax] of limits) {
      const key = await this.#sign(subject);
      const limit = { attemptsMax, windowMs: guessWindowSeconds * secondMs };
      const { isAllowed, resetsAt } = await this.#options.throttles.take(key, limit, nowMs);
      if (!isAllowed) {
        await this.#takeBack(counted);
        await this.#record('lockout', request, guesser);
        throw tooManyAttempts(resetsAt - nowMs);
      }
      counted.push({ key, resetsAt });
    }
    return counted;
  }

  async #record(
    event: 'failure' | 'lockout',
    request: FastifyRequest,
    { email, device, what }: Guesser,
  ): Promise<void> {
    const { log } = this.#options.authProvider;
    // No audit log has an entry about nobody.
    if (email === undefined) return log.count(event);
    const detail = `${what}, from ${device === undefined ? 'an unknown' : 'a known'} browser`;
    await log.record(event, { email, address: getClientAddress(request), detail });
  }

  async #takeBack(counted: readonly Counted[]): Promise<void> {
    for (const { key, resetsAt } of counted) await this.#options.throttles.giveBack(key, resetsAt);
  }

  /** The id of a browser that has signed in as this user before. */
  async #findDevice(request: FastifyRequest, email: string): Promise<string | undefined> {
    const [id, signature] = request.cookies[this.#cookieFor(request).name]?.split('.') ?? [];
    if (id === undefined || signature === undefined) return undefined;
    const secrets = await this.#options.authProvider.secrets();
    return secrets.verify(PURPOSE, `device ${id} ${email}`, signature) ? id : undefined;
  }

  async #sign(text: string): Promise<string> {
    return (await this.#options.authProvider.secrets()).sign(PURPOSE, text);
  }

  #cookieFor({ protocol }: FastifyRequest) {
    const { authProvider } = this.#options;
    const { basePath } = authProvider;
    const secure = authProvider.isSecure({ secure: protocol === 'https' });
    const name = `${cookiePrefix({ secure, basePath })}.device`;
    // A `__Host-` cookie has no other path.
    return { name, secure, path: secure && basePath === '' ? '/' : `${basePath}/api` };
  }
}

/** The network that a stranger may have to itself. */
function networkOf(address: string): string {
  const { narrow, wide } = sharedNetworksOf(address);
  return wide ?? narrow;
}

/** The limits of an address: IPv4 by address, IPv6 by /64 and, with a higher limit, by /48. */
function limitsOfAddress(address: string): readonly Limit[] {
  const { narrow, wide } = sharedNetworksOf(address);
  const own: Limit = [`attempts from ${narrow}`, addressFailuresMax];
  return wide === undefined
    ? [own]
    : [own, [`attempts from ${wide}`, addressFailuresMax * wideNetworkFactor]];
}

function tooManyAttempts(msBeforeNext: number): HttpError {
  const seconds = Math.max(Math.ceil(msBeforeNext / secondMs), 1);
  return new HttpError(
    429,
    `Too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min, or from a browser that has signed in before.`,
    { 'retry-after': String(seconds) },
  );
}
