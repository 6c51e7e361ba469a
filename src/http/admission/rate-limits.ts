/**
 * Rate limits for organizations, and for addresses whose requests fail to authenticate. Each process counts for itself, so
 * several servers together allow more.
 *
 * The headers are those of draft-ietf-httpapi-ratelimit-headers-10: `RateLimit-Policy` has the limit and `RateLimit` the
 * remaining requests.
 */
import type { FastifyReply } from 'fastify';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { sharedNetworksOf } from '../../domain/keys/networks.js';
import { wideNetworkFactor } from '../../domain/limits.js';
import { HttpError } from '../server/errors.js';

/** Requests per minute; 0 for no limit. */
export interface RateLimits {
  readonly requestsPerMinute: number;
  readonly failuresPerMinute: number;
}

const windowSeconds = 60;

/** The name under which the limit counts a person, on pages and through applications. No organization has such an id. */
export function personOf(userId: string): string {
  return `user ${userId}`;
}

export class RateLimit {
  /** The name in the headers. */
  readonly #name: string;
  readonly quota: number;
  readonly #limiter: RateLimiterMemory | undefined;

  /** `quota`: requests per minute for each client; 0 for no limit. */
  constructor(name: string, quota: number) {
    this.#name = name;
    this.quota = quota;
    this.#limiter =
      quota === 0 ? undefined : new RateLimiterMemory({ points: quota, duration: windowSeconds });
  }

  get isLimited(): boolean {
    return this.#limiter !== undefined;
  }

  /** Counts a request of `who` and sets the headers, unless they are `quiet` below the limit. Throws `429` above it. */
  async consume(who: string, reply: FastifyReply, { quiet = false, count = 1 } = {}): Promise<void> {
    if (this.#limiter === undefined) return;
    // Above the limit, the library rejects with the result instead of an error.
    const result = await this.#limiter.consume(who, count).catch((rejected: Error | RateLimiterRes) => {
      if (rejected instanceof Error) throw rejected;
      return rejected;
    });
    if (quiet && result.consumedPoints <= this.quota) return;
    const seconds = Math.max(Math.ceil(result.msBeforeNext / 1000), 1);
    reply.headers({
      'ratelimit-policy': `"${this.#name}";q=${this.quota};w=${windowSeconds}`,
      ratelimit: `"${this.#name}";r=${result.remainingPoints};t=${seconds}`,
    });
    if (result.consumedPoints <= this.quota) return;
    const message = `Too many requests: ${this.quota} a minute are allowed. Try again in ${seconds} s.`;
    throw new HttpError(429, message, { 'retry-after': String(seconds) });
  }

  /** Takes back that a request of `who` was counted, and the headers. */
  async giveBack(who: string, reply: FastifyReply): Promise<void> {
    await this.#limiter?.reward(who);
    for (const header of ['ratelimit-policy', 'ratelimit']) reply.removeHeader(header);
  }
}

/** Limits addresses whose requests fail: IPv4 by address, IPv6 by /64 and, with a higher limit, by /48. */
export class FailureLimit {
  readonly #narrow: RateLimit;
  readonly #wide: RateLimit;

  /** `quota`: failures per minute for each address; 0 for no limit. */
  constructor(quota: number) {
    this.#narrow = new RateLimit('failures', quota);
    this.#wide = new RateLimit('failures', quota * wideNetworkFactor);
  }

  /** Counts one failure of the client's address. Throws `429` above a limit. */
  async consume(address: string, reply: FastifyReply): Promise<void> {
    const { narrow, wide } = sharedNetworksOf(address);
    // Refused requests of one network do not count against its neighbors.
    await this.#narrow.consume(narrow, reply);
    if (wide !== undefined) await this.#wide.consume(wide, reply, { quiet: true });
  }
}
