/**
 * How often somebody may ask: an organization, and an address whose requests fail to authenticate. Counted in this
 * process alone: several servers let through as many times more.
 *
 * The headers are those of draft-ietf-httpapi-ratelimit-headers-10: `RateLimit-Policy` says what holds, `RateLimit` what
 * is left of it.
 */
import type { FastifyReply } from 'fastify';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { HttpError } from '../errors.js';

/** Requests in a minute; 0 for as many as come. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly failuresPerMinute: number;
}

const windowSeconds = 60;

export class RateLimit {
  /** How the headers call it. */
  readonly #name: string;
  readonly #quota: number;
  readonly #limiter: RateLimiterMemory | undefined;

  /** `quota` requests a minute for each of those who ask; 0 for no limit. */
  constructor(name: string, quota: number) {
    this.#name = name;
    this.#quota = quota;
    this.#limiter =
      quota === 0 ? undefined : new RateLimiterMemory({ points: quota, duration: windowSeconds });
  }

  get isLimited(): boolean {
    return this.#limiter !== undefined;
  }

  /** Counts one request of `who`, and says in the answer what is left. Throws `429` where nothing is. */
  async consume(who: string, reply: FastifyReply): Promise<void> {
    if (this.#limiter === undefined) return;
    const { left, seconds, exceeded } = await this.#count(this.#limiter, who);
    const headers = {
      'ratelimit-policy': `"${this.#name}";q=${this.#quota};w=${windowSeconds}`,
      ratelimit: `"${this.#name}";r=${left};t=${seconds}`,
    };
    reply.headers(headers);
    if (exceeded) {
      throw new HttpError(
        429,
        `Too many requests: ${this.#quota} a minute are allowed. Try again in ${seconds} s.`,
        {
          ...headers,
          'retry-after': String(seconds),
        },
      );
    }
  }

  async #count(limiter: RateLimiterMemory, who: string) {
    try {
      return { ...toRemaining(await limiter.consume(who)), exceeded: false };
    } catch (error) {
      // The library rejects with the count where the limit is passed, and with an error where it failed.
      if (error instanceof Error) throw error;
      return { ...toRemaining(error as RateLimiterRes), exceeded: true };
    }
  }
}

function toRemaining({ remainingPoints, msBeforeNext }: RateLimiterRes) {
  return { left: Math.max(remainingPoints, 0), seconds: Math.max(Math.ceil(msBeforeNext / 1000), 1) };
}
