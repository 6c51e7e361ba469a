/**
 * Limits the guessing of passwords and codes without locking anybody out, after OWASP's "Slow Down Online Guessing Attacks
 * with Device Cookies". A browser that has signed in as a user keeps a cookie that says so, and has a count of its own.
 * Failures of all other browsers are counted for the user they try, and for their address. So strangers cannot block the
 * browsers that the user has signed in with.
 *
 * The counts are in the store, so they hold for all processes and nodes together and survive restarts. Where the store is
 * unavailable nobody can sign in.
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

/** What signs device cookies, and says where they are sent and whether they are `Secure`. */
type Signing = Pick<AuthProvider, 'signingSecret' | 'isSecure' | 'basePath'>;

interface LoginThrottleOptions {
  readonly authProvider: Signing;
  readonly throttles: Throttles;
  readonly clock: Clock;
}

/** A count that an attempt goes to. */
interface Count {
  /** A keyed hash, so that the store has no addresses of people. */
  readonly key: string;
  readonly attemptsMax: number;
}

/** An attempt that was counted. */
interface Taken {
  readonly key: string;
  readonly resetsAt: number;
}

export class LoginThrottle {
  readonly #authProvider: Signing;
  readonly #throttles: Throttles;
  readonly #clock: Clock;

  constructor({ authProvider, throttles, clock }: LoginThrottleOptions) {
    this.#authProvider = authProvider;
    this.#throttles = throttles;
    this.#clock = clock;
  }

  /**
   * Runs `check`, which compares a secret of the user, or throws `429` after too many failures. An attempt counts as a
   * failure while it runs, so that parallel attempts cannot pass the limit. Unless it fails with `wrong_credentials`, it is
   * then taken back.
   */
  async attempt<T>(request: FastifyRequest, email: string, check: () => Promise<T>): Promise<T> {
    const taken = await this.#take(await this.#getCounts(request, email));
    let isWrong = false;
    try {
      return await check();
    } catch (error) {
      isWrong = error instanceof CallerStatsError && error.code === 'wrong_credentials';
      throw error;
    } finally {
      if (!isWrong) await this.#giveBack(taken);
    }
  }

  /** Remembers the browser with a cookie, or forgets the failures of one that has it. */
  async succeeded(request: FastifyRequest, reply: FastifyReply, email: string): Promise<void> {
    const device = await this.#deviceOf(request, email);
    if (device !== undefined) {
      await this.#throttles.reset(await this.#keyOfDevice(device));
      return;
    }
    const id = randomBytes(16).toString('base64url');
    reply.setCookie(this.#cookieOf(request), `${id}.${await this.#sign(`device ${id} ${email}`)}`, {
      httpOnly: true,
      sameSite: 'strict',
      secure: this.#isSecure(request),
      path: `${this.#authProvider.basePath}/api`,
      maxAge: deviceCookieSeconds,
    });
  }

  async #getCounts(request: FastifyRequest, email: string): Promise<readonly Count[]> {
    const device = await this.#deviceOf(request, email);
    if (device !== undefined) return [{ key: await this.#keyOfDevice(device), attemptsMax: guessesMax }];
    return [
      { key: await this.#sign(`attempts of user ${email}`), attemptsMax: guessesMax },
      {
        key: await this.#sign(`attempts from ${getClientAddress(request)}`),
        attemptsMax: addressFailuresMax,
      },
    ];
  }

  #keyOfDevice(device: string): Promise<string> {
    return this.#sign(`attempts of device ${device}`);
  }

  /** Counts an attempt everywhere, or nowhere: then it throws `429`. */
  async #take(counts: readonly Count[]): Promise<readonly Taken[]> {
    const nowMs = this.#clock.now();
    const taken: Taken[] = [];
    for (const { key, attemptsMax } of counts) {
      const limit = { attemptsMax, windowMs: guessWindowSeconds * secondMs };
      const { isAllowed, resetsAt } = await this.#throttles.take(key, limit, nowMs);
      if (!isAllowed) {
        await this.#giveBack(taken);
        throw tooMany(resetsAt - nowMs);
      }
      taken.push({ key, resetsAt });
    }
    return taken;
  }

  async #giveBack(taken: readonly Taken[]): Promise<void> {
    for (const { key, resetsAt } of taken) await this.#throttles.giveBack(key, resetsAt);
  }

  /** The id of a browser that has signed in as this user before. */
  async #deviceOf(request: FastifyRequest, email: string): Promise<string | undefined> {
    const [id, signature] = request.cookies[this.#cookieOf(request)]?.split('.') ?? [];
    if (id === undefined || signature === undefined) return undefined;
    const expected = Buffer.from(await this.#sign(`device ${id} ${email}`));
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given) ? id : undefined;
  }

  async #sign(text: string): Promise<string> {
    const hmac = createHmac('sha256', await this.#authProvider.signingSecret());
    return hmac.update(text).digest('base64url');
  }

  #isSecure({ protocol }: FastifyRequest): boolean {
    return this.#authProvider.isSecure({ secure: protocol === 'https' });
  }

  #cookieOf(request: FastifyRequest): string {
    return this.#isSecure(request) ? `__Secure-${COOKIE}` : COOKIE;
  }
}

function tooMany(msBeforeNext: number): HttpError {
  const seconds = Math.max(Math.ceil(msBeforeNext / secondMs), 1);
  return new HttpError(
    429,
    `Too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min, or from a browser that has signed in before.`,
    { 'retry-after': String(seconds) },
  );
}
