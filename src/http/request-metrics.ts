/** What the app tells whoever measures it. Without anybody, nothing here is done for a request. */
import type { FastifyInstance } from 'fastify';
import type { RecordResult, Store } from '../storage/ports/store.js';
import { onFinished } from './connection/connections.js';

export interface RequestMetrics {
  /** Milliseconds, in fractions, of a clock that only goes forward. */
  now(): number;
  /** The same for the same two: whoever asks often keeps it. */
  requestsTo(method: string, route: string): RouteMetrics;
  /** A request that never came to a route, because it was broken or late. */
  refused(status: number): void;
  recorded(result: RecordResult): void;
}

/** Of the requests with one method to one route. */
export interface RouteMetrics {
  answered(status: number, ms: number): void;
}

/** Stands for the route of requests to paths that there are none of. */
export const UNMATCHED = 'unmatched';

/** Stands for the answer of whoever went away before there was one, as nginx has it. */
const goneStatus = 499;

/** RequestMetrics every request that the app routes. To be called before anything else looks at requests. */
export function observeRequests(app: FastifyInstance, metrics: RequestMetrics): void {
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

/** Records into the store, and says what became of it. */
export function observeRecordings(store: Store, metrics: RequestMetrics | undefined): Pick<Store, 'record'> {
  if (metrics === undefined) return store;
  return {
    record: async (projectId, queries) => {
      const result = await store.record(projectId, queries);
      metrics.recorded(result);
      return result;
    },
  };
}
