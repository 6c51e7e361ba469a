/** `/livez` and `/readyz`: health checks for load balancers and process managers. They need no key. */
import type { FastifyInstance, FastifySchema, RouteHandler } from 'fastify';
import type { Clock } from '../../domain/time/clock.js';
import { withDeadline } from '../../shared/deadline.js';
import type { Store } from '../../storage/ports/store.js';
import { STORE_PARTS, type StorePart } from '../../storage/ports/store-stats.js';
import { errorResponses, jsonResponse, StatusSchema } from '../schemas/schemas.js';
import { UnavailableError } from '../server/errors.js';
import { addResource } from '../server/resource.js';

/** What `/readyz` reports for each failing part. The store's own messages may contain a file or host name. */
const TROUBLES: Readonly<Record<StorePart, string>> = {
  database: 'database: cannot be reached or read; see the log.',
  schema: 'schema: is not the one that this version works with; see the log.',
  counts: 'counts: a count cannot be made; see the log.',
};

const NOT_RECORDING = 'recording: nothing can be recorded now, but counts are served; see the log.';

/** Health checks give up after a few seconds. */
const recordingCheckMs = 1_000;

const tooSlow = (): Error => new Error(`a commit took longer than ${recordingCheckMs} ms`);

export function addOperations(app: FastifyInstance, store: Store, clock: Clock): void {
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
      'names the failing part. While nothing can be recorded, as on a full disk, the server still counts: the response is ' +
      '200 with the status `read-only`.',
  };
  add('/readyz', 'It is ready.', readiness, async (request) => {
    for (const part of STORE_PARTS) {
      try {
        await store.maintenance.check(part);
      } catch (error) {
        request.log.error({ err: error, reqId: request.id, part }, 'not ready');
        throw new UnavailableError('The server is not ready.', TROUBLES[part]);
      }
    }
    const recording = withDeadline(recordingCheckMs, tooSlow, () =>
      store.maintenance.checkRecording(clock.now()),
    );
    return recording.then(
      () => ({ status: 'ready' }),
      (error: unknown) => {
        request.log.error({ err: error, reqId: request.id, part: 'recording' }, 'nothing can be recorded');
        return { status: 'read-only', details: [{ message: NOT_RECORDING }] };
      },
    );
  });
}
