/** `GET /v1/analytics/{projectId}/assistant/caller-stats/series`: caller stats over time. */
import type { FastifyInstance } from 'fastify';
import { COUNT_FIELDS } from '../../domain/counting/counts.js';
import { seriesToCsv } from '../../domain/counting/csv.js';
import { seriesBucketsMax } from '../../domain/limits.js';
import type { Store } from '../../storage/ports/store.js';
import { readSeries } from '../../storage/series.js';
import type { Authenticator } from '../request/authenticate.js';
import { answerAsAccepted } from '../request/negotiate.js';
import { readSeriesParameters } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import { addResource } from '../resource.js';
import {
  errorResponses,
  jsonOrCsvResponse,
  ProjectPath,
  SeriesParameters,
  SeriesSchema,
} from '../schemas/schemas.js';

export function addSeries(app: FastifyInstance, store: Store, authenticator: Authenticator): void {
  addResource(app, '/v1/analytics/:projectId/assistant/caller-stats/series', {
    onRequest: async (request, reply) => {
      await authenticator.authorize(request, reply, getProjectId(request), ['admin']);
    },
    GET: {
      schema: {
        operationId: 'getCallerStatsSeries',
        tags: ['Analytics'],
        summary: 'Assistant caller stats over time',
        description:
          "Counts the queries that the project's assistant got, by the type of their caller, in each hour, day, week or " +
          "month of a time zone's own calendar. The buckets tile the range, its first and last one clipped to it, and add up " +
          'to the caller stats of the same range. A bound left out is that of the first or last bucket with a query. At ' +
          `most ${seriesBucketsMax} buckets. As CSV for \`Accept: text/csv\`.`,
        security: [{ adminKey: [] }],
        params: ProjectPath,
        querystring: SeriesParameters,
        response: {
          200: jsonOrCsvResponse(SeriesSchema, 'The buckets.', `start,end,${COUNT_FIELDS.join()}`),
          ...errorResponses(400, 401, 403, 404, 405, 429, 500, 503),
        },
      },
      attachValidation: true,
      handler: async (request, reply) => {
        const series = await readSeries(store, getProjectId(request), readSeriesParameters(request));
        return answerAsAccepted(request, reply, series, seriesToCsv);
      },
    },
  });
}
