/**
 * Logs requests that are refused for what the client sent: a missing right, a wrong key, invalid input, a limit. They may be
 * attempts to get past a check. A line says which route refused with which status, and which key or user sent the request;
 * of equal lines, one in ten seconds is written. Unknown paths are left out, because every server on the internet gets them.
 */
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Clock } from '../../domain/time/clock.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';

/** Kinds of lines that are remembered, which is more than a server has routes, statuses and busy clients. */
const kindsMax = 10_000;

export class RefusalLog {
  readonly #log: FastifyBaseLogger;
  readonly #warnings = new BoundedCache<string, ReturnType<typeof createThrottledWarning>>(kindsMax);
  readonly #clock: Clock;

  constructor(log: FastifyBaseLogger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** A request that a route refused, with the status of its answer. `problem` must be one of few texts, not a client's. */
  refused(request: FastifyRequest, status: number, problem?: string): void {
    if (status >= 500 || request.is404) return;
    const { id, method, routeOptions, refusal, userId } = request;
    const key = request.key ?? refusal?.key ?? null;
    const fields = {
      method,
      route: routeOptions.url,
      status,
      ...(key !== null && { keyId: key.id, keyName: key.name }),
      ...(refusal !== null && { reason: refusal.reasons.join() }),
      ...(userId !== null && { userId }),
      ...(problem !== undefined && { problem }),
    };
    this.#write(fields, id);
  }

  /** A request that reached no route, because it was invalid or too late. */
  malformed(status: number): void {
    if (status < 500) this.#write({ status });
  }

  #write(fields: object, reqId?: string): void {
    const warn = this.#warnings.getOrCreate(Object.values(fields).join(' '), () =>
      createThrottledWarning(this.#clock),
    );
    warn(this.#log, { ...(reqId !== undefined && { reqId }), ...fields }, 'request refused');
  }
}
