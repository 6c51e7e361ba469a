/** `GET /v1/analytics/{projectId}/assistant/callers`: what the counts are made of, caller by caller. */
import type { FastifyInstance } from 'fastify';
import { callersToCsv } from '../../domain/counting/csv.js';
import type { Store } from '../../storage/ports/store.js';
import type { Authenticator } from '../request/authenticate.js';
import { answerAsAccepted } from '../request/negotiate.js';
import { readRange } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import { addResource } from '../resource.js';
import {
  CallersSchema,
  errorResponses,
  jsonOrCsvResponse,
  ProjectPath,
  RangeParameters,
} from '../schemas/schemas.js';

export function addCallers(app: FastifyInstance, store: Store, authenticator: Authenticator): void {
  addResource(app, '/v1/analytics/:projectId/assistant/callers', {
    onRequest: async (request, reply) => {
      await authenticator.authorize(request, reply, getProjectId(request), ['admin']);
    },
    GET: {
      schema: {
        operationId: 'getCallers',
        tags: ['Analytics'],
        summary: 'Assistant callers',
        description:
          "Counts the queries that the project's assistant got, by caller, in the half-open range [dateFrom, dateTo): each " +
          'caller that sent any, its type, and how many, most first, then by name. They add up to the caller stats of the ' +
          'same range. As CSV for `Accept: text/csv`.',
        security: [{ adminKey: [] }],
        params: ProjectPath,
        querystring: RangeParameters,
        response: {
          200: jsonOrCsvResponse(CallersSchema, 'The callers.', 'caller,type,count'),
          ...errorResponses(400, 401, 403, 404, 405, 429, 500, 503),
        },
      },
      attachValidation: true,
      handler: async (request, reply) => {
        const callers = await store.countCallers(getProjectId(request), readRange(request));
        return answerAsAccepted(request, reply, callers, callersToCsv);
      },
    },
  });
}
