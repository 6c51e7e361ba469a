/**
 * Slows the guessing of passwords and codes without locking anybody out, after OWASP's "Slow Down Online Guessing
 * Attacks with Device Cookies": a browser that has signed in before as somebody keeps a cookie that says so, and its
 * failures are counted for itself. Strangers' failures are counted for the user they try, and for their address. So a
 * stranger can use up what strangers may try, never what the owner's own browser may.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { AuthProvider } from '../../auth/auth-provider.js';
import { COOKIE_PREFIX } from '../../auth/names.js';
import { CallerStatsError } from '../../domain/errors.js';
import {
  addressFailuresMax,
  deviceCookieSeconds,
  guessesMax,
  guessWindowSeconds,
} from '../../domain/limits.js';
import { HttpError } from '../errors.js';
import { getClientAddress } from '../request/target.js';

const COOKIE = `${COOKIE_PREFIX}.device`;

/** What signs the cookies of devices, and says where they are sent and whether they are `Secure`. */
type Signing = Pick<AuthProvider, 'signingSecret' | 'isSecure' | 'basePath'>;

interface Limit {
  readonly limiter: RateLimiterMemory;
  readonly who: string;
}

export class GuessGuard {
  readonly #authProvider: Signing;
  readonly #byUser = limiterOf(guessesMax);
  readonly #byDevice = limiterOf(guessesMax);
  readonly #byAddress = limiterOf(addressFailuresMax);

  constructor(authProvider: Signing) {
    this.#authProvider = authProvider;
  }

  /**
   * Runs `check`, which looks at a secret of the user, unless whoever asks has failed too often: `429`. It counts as a
   * failure from its beginning on, for many at once are as many guesses as one after the other; and not any more where
   * it ends with anything but `wrong_credentials`.
   */
  async attempt<T>(request: FastifyRequest, email: string, check: () => Promise<T>): Promise<T> {
    const limits = await this.#limitsOf(request, email);
    await take(limits);
    let isWrong = false;
    try {
      return await check();
    } catch (error) {
      isWrong = error instanceof CallerStatsError && error.code === 'wrong_credentials';
      throw error;
    } finally {
      if (!isWrong) await giveBack(limits);
    }
  }

  /** Lets the browser be known from now on. */
  async succeeded(request: FastifyRequest, reply: FastifyReply, email: string): Promise<void> {
    const device = await this.#deviceOf(request, email);
    if (device !== undefined) {
      await this.#byDevice.delete(device);
      return;
    }
    const id = randomBytes(16).toString('base64url');
    reply.setCookie(this.#cookieOf(request), `${id}.${await this.#sign(id, email)}`, {
      httpOnly: true,
      sameSite: 'strict',
      secure: this.#isSecure(request),
      path: `${this.#authProvider.basePath}/api`,
      maxAge: deviceCookieSeconds,
    });
  }

  async #limitsOf(request: FastifyRequest, email: string): Promise<readonly Limit[]> {
    const device = await this.#deviceOf(request, email);
    return device === undefined
      ? [
          { limiter: this.#byUser, who: email },
          { limiter: this.#byAddress, who: getClientAddress(request) },
        ]
      : [{ limiter: this.#byDevice, who: device }];
  }

  /** The id of a browser that has signed in as this user before. */
  async #deviceOf(request: FastifyRequest, email: string): Promise<string | undefined> {
    const [id, signature] = request.cookies[this.#cookieOf(request)]?.split('.') ?? [];
    if (id === undefined || signature === undefined) return undefined;
    const expected = Buffer.from(await this.#sign(id, email));
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given) ? id : undefined;
  }

  async #sign(id: string, email: string): Promise<string> {
    const hmac = createHmac('sha256', await this.#authProvider.signingSecret());
    return hmac.update(`device ${id} ${email}`).digest('base64url');
  }

  #isSecure({ protocol }: FastifyRequest): boolean {
    return this.#authProvider.isSecure({ secure: protocol === 'https' });
  }

  #cookieOf(request: FastifyRequest): string {
    return this.#isSecure(request) ? `__Secure-${COOKIE}` : COOKIE;
  }
}

function limiterOf(points: number): RateLimiterMemory {
  return new RateLimiterMemory({ points, duration: guessWindowSeconds });
}

/** Takes a point from each, or from none: then `429`. */
async function take(limits: readonly Limit[]): Promise<void> {
  for (const [at, { limiter, who }] of limits.entries()) {
    try {
      await limiter.consume(who);
    } catch (error) {
      await giveBack(limits.slice(0, at + 1));
      // The library rejects with the count where nothing is left, and with an error where it failed.
      throw error instanceof RateLimiterRes ? tooMany(error.msBeforeNext) : error;
    }
  }
}

async function giveBack(limits: readonly Limit[]): Promise<void> {
  for (const { limiter, who } of limits) await limiter.reward(who);
}

function tooMany(msBeforeNext: number): HttpError {
  const seconds = Math.max(Math.ceil(msBeforeNext / 1000), 1);
  return new HttpError(
    429,
    `Too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min, or from a browser that has signed in before.`,
    { 'retry-after': String(seconds) },
  );
}
