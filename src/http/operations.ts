/** `/livez` and `/readyz`: for whatever starts, stops and balances the service. No key. */
import type { FastifyInstance } from 'fastify';
import type { Store } from '../storage/store.js';
import { unavailable } from './errors.js';
import { addResource } from './resource.js';
import { bodyOf, errorsOf, StatusSchema } from './schemas.js';

export function addOperations(app: FastifyInstance, store: Store): void {
  addResource(app, '/livez', {
    GET: {
      schema: {
        operationId: 'getLiveness',
        tags: ['Operations'],
        summary: 'Whether the process is alive',
        description: 'Answers as long as the process can answer anything. Restart it when this fails.',
        security: [],
        response: { 200: bodyOf(StatusSchema, 'It is alive.'), ...errorsOf(405, 500, 503) },
      },
      handler: async () => ({ status: 'live' }),
    },
  });
  addResource(app, '/readyz', {
    GET: {
      schema: {
        operationId: 'getReadiness',
        tags: ['Operations'],
        summary: 'Whether requests can be answered',
        description: 'Does a real read of the store. Send no requests while this fails.',
        security: [],
        response: { 200: bodyOf(StatusSchema, 'It is ready.'), ...errorsOf(405, 500, 503) },
      },
      handler: async (request) => {
        try {
          await store.check();
        } catch (error) {
          request.log.error({ err: error, reqId: request.id }, 'not ready');
          throw unavailable('The store cannot be read.');
        }
        return { status: 'ready' };
      },
    },
  });
}
