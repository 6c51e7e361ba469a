/** The operations that read counts: caller stats of a range, caller stats over time, and callers. */
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandler } from 'fastify';
import { CALLERS, SERIES } from '../../app/reports.js';
import { COUNT_FIELDS } from '../../domain/counting/counts.js';
import { seriesBucketsMax } from '../../domain/limits.js';
import type { Store } from '../../storage/ports/store.js';
import type { Authenticator } from '../request/authenticate.js';
import { answerAsAccepted } from '../request/negotiate.js';
import { readRange, readSeriesParameters } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import { addResource } from '../resource.js';
import type { Schema } from '../schemas/json-schema.js';
import {
  CallerStatsSchema,
  CallersSchema,
  errorResponses,
  jsonOrCsvResponse,
  jsonResponse,
  ProjectPath,
  RangeParameters,
  SeriesParameters,
  SeriesSchema,
} from '../schemas/schemas.js';

/** In the syntax of the router. */
export const CALLER_STATS = '/v1/analytics/:projectId/assistant/caller-stats';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly querystring: Schema;
  /** The response with status 200. */
  readonly success: object;
  readonly handler: RouteHandler;
}

/** Creates the handlers of the reports, for requests with an API key and for the dashboard. */
export function createReportHandlers(store: Store) {
  return {
    callerStats: async (request: FastifyRequest) => store.count(getProjectId(request), readRange(request)),
    series: async (request: FastifyRequest, reply: FastifyReply) => {
      const series = await SERIES.read(store, getProjectId(request), readSeriesParameters(request));
      return answerAsAccepted(request, reply, series, SERIES.toCsv);
    },
    callers: async (request: FastifyRequest, reply: FastifyReply) => {
      const callers = await CALLERS.read(store, getProjectId(request), readRange(request));
      return answerAsAccepted(request, reply, callers, CALLERS.toCsv);
    },
  };
}

export function addAnalytics(app: FastifyInstance, store: Store, authenticator: Authenticator): void {
  const handlers = createReportHandlers(store);
  const add = (url: string, { handler, success, ...schema }: Operation) =>
    addResource(app, url, {
      onRequest: async (request, reply) => {
        await authenticator.authorize(request, reply, getProjectId(request), ['admin']);
      },
      GET: {
        schema: {
          ...schema,
          tags: ['Analytics'],
          security: [{ adminKey: [] }],
          params: ProjectPath,
          response: { 200: success, ...errorResponses(400, 401, 403, 404, 405, 429, 500, 503) },
        },
        attachValidation: true,
        handler,
      },
    });
  add(CALLER_STATS, {
    operationId: 'getCallerStats',
    summary: 'Assistant caller stats',
    description:
      "Counts the queries that the project's assistant got, by the type of their caller, in the half-open range [dateFrom, dateTo).",
    querystring: RangeParameters,
    success: jsonResponse(CallerStatsSchema, 'The counts.'),
    handler: handlers.callerStats,
  });
  add(`${CALLER_STATS}/series`, {
    operationId: 'getCallerStatsSeries',
    summary: 'Assistant caller stats over time',
    description:
      "Counts the queries that the project's assistant got, by the type of their caller, in each hour, day, week or month " +
      'of a time zone. The buckets cover the range without gaps or overlaps. The first and the last bucket are clipped to ' +
      'the range. The buckets add up to the caller stats of the same range. Without `dateFrom`, the range starts with the ' +
      'first bucket that has a query; without `dateTo`, it ends with the last one. ' +
      `At most ${seriesBucketsMax} buckets. CSV for \`Accept: text/csv\`.`,
    querystring: SeriesParameters,
    success: jsonOrCsvResponse(SeriesSchema, 'The buckets.', `start,end,${COUNT_FIELDS.join()}`),
    handler: handlers.series,
  });
  add('/v1/analytics/:projectId/assistant/callers', {
    operationId: 'getCallers',
    summary: 'Assistant callers',
    description:
      "Counts the queries that the project's assistant got, by caller, in the half-open range [dateFrom, dateTo): the " +
      'name, type and count of each caller with queries, largest count first, then by name. They add up to the caller ' +
      'stats of the same range. CSV for `Accept: text/csv`.',
    querystring: RangeParameters,
    success: jsonOrCsvResponse(CallersSchema, 'The callers.', 'caller,type,count'),
    handler: handlers.callers,
  });
}
