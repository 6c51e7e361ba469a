/**
 * Limits the guessing of passwords and codes without locking anybody out, after OWASP's "Slow Down Online Guessing Attacks
 * with Device Cookies". A browser that has signed in as a user gets a cookie and has a count of its own.
 * Failures of all other browsers are counted for the user they try, and for their address. So strangers cannot block the
 * browsers that the user has signed in with.
 *
 * The counts are in the store, so all processes and nodes share them, and restarts do not reset them. While the store is
 * unavailable, nobody can sign in.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthProvider } from '../../auth/auth-provider.js';
import { COOKIE_PREFIX } from '../../auth/names.js';
import { CallerStatsError } from '../../domain/errors.js';
import {
  addressFailuresMax,
  deviceCookieSeconds,
  guessesMax,
  guessWindowSeconds,
} from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import { secondMs } from '../../domain/time/duration.js';
import type { Throttles } from '../../storage/ports/throttles.js';
import { HttpError } from '../errors.js';
import { getClientAddress } from '../request/target.js';

const COOKIE = `${COOKIE_PREFIX}.device`;

interface LoginThrottleOptions {
  readonly authProvider: AuthProvider;
  readonly throttles: Throttles;
  readonly clock: Clock;
}

/** An attempt that was counted, by a keyed hash, so that the store has no addresses of people. */
type Counted = { readonly key: string; readonly resetsAt: number };

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
  }

  /**
   * Runs `check`, which compares a secret of the user, or throws `429` after too many failures. An attempt counts as a
   * failure while it runs, so that parallel attempts cannot pass the limit. Unless it fails with `wrong_credentials`, it is
   * then taken back.
   */
  async attempt<T>(request: FastifyRequest, email: string, check: () => Promise<T>): Promise<T> {
    const counted = await this.#count(request, email);
    let isWrong = false;
    try {
      return await check();
    } catch (error) {
      isWrong = error instanceof CallerStatsError && error.code === 'wrong_credentials';
      throw error;
    } finally {
      if (!isWrong) await this.#takeBack(counted);
    }
  }

  /** Remembers the browser with a cookie, or forgets the failures of one that has it. */
  async succeeded(request: FastifyRequest, reply: FastifyReply, email: string): Promise<void> {
    const device = await this.#findDevice(request, email);
    if (device !== undefined) {
      await this.#options.throttles.reset(await this.#sign(`attempts of device ${device}`));
      return;
    }
    const id = randomBytes(16).toString('base64url');
    const { name, secure } = this.#cookieFor(request);
    reply.setCookie(name, `${id}.${await this.#sign(`device ${id} ${email}`)}`, {
      httpOnly: true,
      sameSite: 'strict',
      secure,
      path: `${this.#options.authProvider.basePath}/api`,
      maxAge: deviceCookieSeconds,
    });
  }

  /** Counts an attempt: of the browser if it is known, else of the user and of the address. Throws `429` above a limit. */
  async #count(request: FastifyRequest, email: string): Promise<readonly Counted[]> {
    const device = await this.#findDevice(request, email);
    const limits: readonly (readonly [subject: string, attemptsMax: number])[] =
      device === undefined
        ? [
            [`attempts of user ${email}`, guessesMax],
            [`attempts from ${getClientAddress(request)}`, addressFailuresMax],
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
        throw tooManyAttempts(resetsAt - nowMs);
      }
      counted.push({ key, resetsAt });
    }
    return counted;
  }

  async #takeBack(counted: readonly Counted[]): Promise<void> {
    for (const { key, resetsAt } of counted) await this.#options.throttles.giveBack(key, resetsAt);
  }

  /** The id of a browser that has signed in as this user before. */
  async #findDevice(request: FastifyRequest, email: string): Promise<string | undefined> {
    const [id, signature] = request.cookies[this.#cookieFor(request).name]?.split('.') ?? [];
    if (id === undefined || signature === undefined) return undefined;
    const expected = Buffer.from(await this.#sign(`device ${id} ${email}`));
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given) ? id : undefined;
  }

  async #sign(text: string): Promise<string> {
    const hmac = createHmac('sha256', await this.#options.authProvider.signingSecret());
    return hmac.update(text).digest('base64url');
  }

  #cookieFor({ protocol }: FastifyRequest) {
    const secure = this.#options.authProvider.isSecure({ secure: protocol === 'https' });
    return { name: secure ? `__Secure-${COOKIE}` : COOKIE, secure };
  }
}

function tooManyAttempts(msBeforeNext: number): HttpError {
  const seconds = Math.max(Math.ceil(msBeforeNext / secondMs), 1);
  return new HttpError(
    429,
    `Too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min, or from a browser that has signed in before.`,
    { 'retry-after': String(seconds) },
  );
}
