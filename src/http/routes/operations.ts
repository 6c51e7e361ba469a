/** `/livez` and `/readyz`: health checks for load balancers and process managers. They need no key. */
import type { FastifyInstance, FastifySchema, RouteHandler } from 'fastify';
import type { Store } from '../../storage/ports/store.js';
import { STORE_PARTS, type StorePart } from '../../storage/ports/store-stats.js';
import { UnavailableError } from '../errors.js';
import { addResource } from '../resource.js';
import { errorResponses, jsonResponse, StatusSchema } from '../schemas/schemas.js';

/** What `/readyz` reports for each failing part. The store's own messages may contain a file or host name. */
const TROUBLES: Readonly<Record<StorePart, string>> = {
  database: 'database: cannot be reached or read; see the log.',
  schema: 'schema: is not the one that this version works with; see the log.',
  counts: 'counts: a count cannot be made; see the log.',
};

export function addOperations(app: FastifyInstance, store: Store): void {
  const add = (url: string, success: string, schema: FastifySchema, handler: RouteHandler) =>
    addResource(app, url, {
      GET: {
        schema: {
          ...schema,
          tags: ['Operations'],
          security: [],
          response: { 200: jsonResponse(StatusSchema, success), ...errorResponses(405, 500, 503) },
        },
        handler,
      },
    });
  const liveness = {
    operationId: 'getLiveness',
    summary: 'Whether the process is alive',
    description: 'Responds while the process can handle requests. Restart the process when this check fails.',
  };
  add('/livez', 'It is alive.', liveness, async () => ({ status: 'live' }));
  const readiness = {
    operationId: 'getReadiness',
    summary: 'Whether the server can answer requests',
    description:
      'Reads the database, checks its schema and runs a real count. Send no requests while this check fails; `details` ' +
      'names the failing part.',
  };
  add('/readyz', 'It is ready.', readiness, async (request) => {
    for (const part of STORE_PARTS) {
      try {
        await store.check(part);
      } catch (error) {
        request.log.error({ err: error, reqId: request.id, part }, 'not ready');
        throw new UnavailableError('The server is not ready.', TROUBLES[part]);
      }
    }
    return { status: 'ready' };
  });
}
