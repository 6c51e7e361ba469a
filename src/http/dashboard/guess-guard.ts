/**
 * Slows the guessing of passwords and codes without locking anybody out, after OWASP's "Slow Down Online Guessing
 * Attacks with Device Cookies": a browser that has signed in before as somebody keeps a cookie that says so, and its
 * failures are counted for itself. Strangers' failures are counted for the user they try, and for their address. So a
 * stranger can use up what strangers may try, never what the owner's own browser may.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import {
  addressFailuresMax,
  deviceCookieSeconds,
  guessesMax,
  guessWindowSeconds,
} from '../../domain/limits.js';
import { addressOf } from '../client-address.js';
import { HttpError } from '../errors.js';

const COOKIE = 'caller-stats.device';

interface Limit {
  readonly limiter: RateLimiterMemory;
  readonly who: string;
}

export class GuessGuard {
  readonly #secret: () => Promise<string>;
  readonly #byUser = limiterOf(guessesMax);
  readonly #byDevice = limiterOf(guessesMax);
  readonly #byAddress = limiterOf(addressFailuresMax);

  /** `secret` signs the cookies of devices. */
  constructor(secret: () => Promise<string>) {
    this.#secret = secret;
  }

  /**
   * Has a secret looked at, by `check`, which gives `wrong` for a wrong one. `429` where whoever asks has failed too often
   * for this user. Each try counts as a failure until it was none, so that many at once are no way around the limit.
   */
  async attempt<T>(
    request: FastifyRequest,
    email: string,
    check: () => Promise<T | 'wrong'>,
  ): Promise<T | 'wrong'> {
    const limits = await this.#limitsOf(request, email);
    for (const { limiter, who } of limits) await spend(limiter, who);
    let result: T | 'wrong' | undefined;
    try {
      result = await check();
      return result;
    } finally {
      if (result !== 'wrong') for (const { limiter, who } of limits) await limiter.reward(who);
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
    reply.setCookie(COOKIE, `${id}.${await this.#sign(id, email)}`, {
      httpOnly: true,
      sameSite: 'strict',
      secure: request.protocol === 'https',
      path: '/api',
      maxAge: deviceCookieSeconds,
    });
  }

  async #limitsOf(request: FastifyRequest, email: string): Promise<readonly Limit[]> {
    const device = await this.#deviceOf(request, email);
    return device === undefined
      ? [
          { limiter: this.#byUser, who: email },
          { limiter: this.#byAddress, who: addressOf(request) },
        ]
      : [{ limiter: this.#byDevice, who: device }];
  }

  /** The id of a browser that has signed in as this user before. */
  async #deviceOf(request: FastifyRequest, email: string): Promise<string | undefined> {
    const [id, signature] = request.cookies[COOKIE]?.split('.') ?? [];
    if (id === undefined || signature === undefined) return undefined;
    const expected = Buffer.from(await this.#sign(id, email));
    const given = Buffer.from(signature);
    return expected.length === given.length && timingSafeEqual(expected, given) ? id : undefined;
  }

  async #sign(id: string, email: string): Promise<string> {
    const hmac = createHmac('sha256', await this.#secret());
    return hmac.update(`device ${id} ${email}`).digest('base64url');
  }
}

function limiterOf(points: number): RateLimiterMemory {
  return new RateLimiterMemory({ points, duration: guessWindowSeconds });
}

async function spend(limiter: RateLimiterMemory, who: string): Promise<void> {
  try {
    await limiter.consume(who);
  } catch (error) {
    // The library rejects with the count where nothing is left, and with an error where it failed.
    if (!(error instanceof RateLimiterRes)) throw error;
    throw tooMany(error.msBeforeNext);
  }
}

function tooMany(msBeforeNext: number): HttpError {
  const seconds = Math.max(Math.ceil(msBeforeNext / 1000), 1);
  return new HttpError(
    429,
    `Too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min, or from a browser that has signed in before.`,
    { 'retry-after': String(seconds) },
  );
}
