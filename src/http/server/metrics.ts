/** How the app reports requests to its metrics. */
import type { FastifyInstance } from 'fastify';
import type { AccountMetrics } from '../../auth/sign-in-log.js';
import type { Delivery } from '../../domain/ingestion/source-counts.js';
import type { DeliveryResult } from '../../domain/notifications/delivery.js';
import type { NotificationKind } from '../../domain/notifications/notification.js';
import type { RecordResult } from '../../storage/ports/store.js';
import { onFinished } from '../connection/connections.js';

export { ACCOUNT_EVENTS, type AccountEvent } from '../../auth/sign-in-log.js';

export interface ServerMetrics extends AccountMetrics {
  /** A monotonic clock, in fractions of milliseconds. */
  now(): number;
  /** The metrics of a method and route. They never change, so callers may keep them. */
  requestsTo(method: string, route: string): RouteMetrics;
  /** A request that did not reach a route, because it was invalid or too late. */
  refused(status: number): void;
  recorded(result: RecordResult): void;
  /** What a recording request brought, and what became of it. */
  arrived(delivery: Delivery): void;
  /** An attempt to send the message of a notification. */
  notified(kind: NotificationKind, result: DeliveryResult): void;
}

/** The metrics of one method of one route. */
export interface RouteMetrics {
  answered(status: number, ms: number): void;
}

/** The route label of requests that match no route. */
export const UNMATCHED = 'unmatched';

/** The status label if the client closed the connection before the response, as in nginx. */
const goneStatus = 499;

/** Measures every request that the app routes. Call it before other hooks are added. */
export function observeRequests(app: FastifyInstance, metrics: ServerMetrics): void {
  app.addHook('onRequest', (request, reply, done) => {
    const startMs = metrics.now();
    const { method, routeOptions, raw } = request;
    onFinished(raw, reply.raw, () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : goneStatus;
      const route = metrics.requestsTo(method, routeOptions.url ?? UNMATCHED);
      route.answered(status, metrics.now() - startMs);
    });
    done();
  });
}
