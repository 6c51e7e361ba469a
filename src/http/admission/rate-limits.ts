/**
 * Rate limits for organizations, and for addresses whose requests fail to authenticate. Each process counts for itself, so
 * several servers together allow more.
 *
 * The headers are those of draft-ietf-httpapi-ratelimit-headers-10: `RateLimit-Policy` has the limit and `RateLimit` the
 * remaining requests.
 */
import type { FastifyReply } from 'fastify';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { HttpError } from '../errors.js';

/** Requests per minute; 0 for no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly failuresPerMinute: number;
}

const windowSeconds = 60;

export class RateLimit {
  /** The name in the headers. */
  readonly #name: string;
  readonly #quota: number;
  readonly #limiter: RateLimiterMemory | undefined;

  /** `quota`: requests per minute for each client; 0 for no limit. */
  constructor(name: string, quota: number) {
    this.#name = name;
    this.#quota = quota;
    this.#limiter =
      quota === 0 ? undefined : new RateLimiterMemory({ points: quota, duration: windowSeconds });
  }

  get isLimited(): boolean {
    return this.#limiter !== undefined;
  }

  /** Counts one request of `who` and sets the headers. Throws `429` above the limit. */
  async consume(who: string, reply: FastifyReply): Promise<void> {
    if (this.#limiter === undefined) return;
    const { left, seconds, exceeded } = await this.#count(this.#limiter, who);
    reply.headers({
      'ratelimit-policy': `"${this.#name}";q=${this.#quota};w=${windowSeconds}`,
      ratelimit: `"${this.#name}";r=${left};t=${seconds}`,
    });
    if (!exceeded) return;
    const message = `Too many requests: ${this.#quota} a minute are allowed. Try again in ${seconds} s.`;
    throw new HttpError(429, message, { 'retry-after': String(seconds) });
  }

  async #count(limiter: RateLimiterMemory, who: string) {
    try {
      return { ...toRemaining(await limiter.consume(who)), exceeded: false };
    } catch (error) {
      // The library rejects with the count above the limit, and with an error if it failed.
      if (error instanceof Error) throw error;
      return { ...toRemaining(error as RateLimiterRes), exceeded: true };
    }
  }
}

function toRemaining({ remainingPoints, msBeforeNext }: RateLimiterRes) {
  return { left: Math.max(remainingPoints, 0), seconds: Math.max(Math.ceil(msBeforeNext / 1000), 1) };
}
