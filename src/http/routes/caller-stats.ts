/** `GET /v1/analytics/{projectId}/assistant/caller-stats`: the operation that the service exists for. */
import type { FastifyInstance } from 'fastify';
import type { Store } from '../../storage/ports/store.js';
import type { Authenticator } from '../request/authenticate.js';
import { readRange } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import { addResource } from '../resource.js';
import {
  CallerStatsSchema,
  errorResponses,
  jsonResponse,
  ProjectPath,
  RangeParameters,
} from '../schemas/schemas.js';

/** As routes are written. */
export const CALLER_STATS = '/v1/analytics/:projectId/assistant/caller-stats';

export function addCallerStats(app: FastifyInstance, store: Store, authenticator: Authenticator): void {
  addResource(app, CALLER_STATS, {
    onRequest: async (request, reply) => {
      await authenticator.authorize(request, reply, getProjectId(request), ['admin']);
    },
    GET: {
      schema: {
        operationId: 'getCallerStats',
        tags: ['Analytics'],
        summary: 'Assistant caller stats',
        description:
          "Counts the queries that the project's assistant got, by the type of their caller, in the half-open range [dateFrom, dateTo).",
        security: [{ adminKey: [] }],
        params: ProjectPath,
        querystring: RangeParameters,
        response: {
          200: jsonResponse(CallerStatsSchema, 'The counts.'),
          ...errorResponses(400, 401, 403, 404, 405, 429, 500, 503),
        },
      },
      attachValidation: true,
      handler: async (request) => store.count(getProjectId(request), readRange(request)),
    },
  });
}
