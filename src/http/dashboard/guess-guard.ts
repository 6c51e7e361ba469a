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

  /** `429` where whoever asks has failed too often for this user. Call it before a secret is looked at. */
  async admit(request: FastifyRequest, email: string): Promise<void> {
    for (const { limiter, who } of await this.#limitsOf(request, email)) {
      const spent = await limiter.get(who);
      if (spent !== null && spent.remainingPoints <= 0) throw tooMany(spent.msBeforeNext);
    }
  }

  /** Counts a failure. */
  async failed(request: FastifyRequest, email: string): Promise<void> {
    for (const { limiter, who } of await this.#limitsOf(request, email)) {
      await limiter.consume(who).catch(ignoreSpent);
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

/** The library rejects with the count where nothing is left, and with an error where it failed. */
function ignoreSpent(error: unknown): void {
  if (!(error instanceof RateLimiterRes)) throw error;
}

function tooMany(msBeforeNext: number): HttpError {
  const seconds = Math.max(Math.ceil(msBeforeNext / 1000), 1);
  return new HttpError(
    429,
    `Too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min, or from a browser that has signed in before.`,
    { 'retry-after': String(seconds) },
  );
}
