/** `/v1/analytics/{projectId}/assistant/queries`: records queries, and exports them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IngestionMonitor } from '../../app/jobs/ingestion-monitor.js';
import { type RecordTarget, recordQueries } from '../../app/record.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { KeyType } from '../../domain/keys/api-key.js';
import { likelyTimeMsMin } from '../../domain/limits.js';
import { earliestProblem, type Project } from '../../domain/projects/project.js';
import { parseQuery, type Query } from '../../domain/queries/query.js';
import { failure } from '../../domain/result.js';
import type { Clock } from '../../domain/time/clock.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';
import type { Store } from '../../storage/ports/store.js';
import type { Admission } from '../admission/admission.js';
import { Arrivals } from '../request/arrivals.js';
import type { Authenticator } from '../request/authenticate.js';
import { type RecordingLimits, refuseUnknownEncoding } from '../request/body.js';
import { parseItems } from '../request/items.js';
import { openedProject, sendingKey } from '../request/opened.js';
import { requireNoParameters } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import {
  errorResponses,
  jsonOrNdjsonBody,
  jsonResponse,
  NoParameters,
  ProjectPath,
  QueriesSchema,
  RecordResultSchema,
} from '../schemas/schemas.js';
import { addResource } from '../server/resource.js';
import { exportedQueries } from './exported-queries.js';

/** The dependencies of the routes that record queries. */
export interface RecordingOptions extends RecordTarget {
  readonly store: Pick<Store, 'counts' | 'corrections'>;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly limits: RecordingLimits;
  readonly admission: Admission;
  readonly ingestion: IngestionMonitor;
}

export function addQueries(app: FastifyInstance, options: RecordingOptions): void {
  const { clock, authenticator, limits, ingestion } = options;
  const arrivals = new Arrivals(ingestion, 'queries');
  const warnOfOldTimes = createThrottledWarning(clock);
  const { batchQueriesMax: maxItems } = limits;
  addResource(app, '/v1/analytics/:projectId/assistant/queries', {
    onRequest: (request, reply, done) => {
      const authorize = request.method === 'POST' ? 'authorizeRecording' : 'authorize';
      const waiting = authenticator[authorize](request, reply, getProjectId(request), keyTypesOf(request));
      if (waiting === undefined) done();
      return waiting;
    },
    GET: exportedQueries(app, options),
    POST: {
      schema: {
        operationId: 'recordQueries',
        tags: ['Recording'],
        summary: 'Record queries',
        description:
          'Records one query, an array of queries, or NDJSON with one query per line, also as `application/json`. ' +
          '`Content-Encoding: gzip` is supported. ' +
          `At most ${maxItems} queries and ${limits.bodyBytesMax} bytes after decoding. ` +
          'Idempotent by id, without a time limit: a request can be repeated at any time. The response is sent once the ' +
          'queries are on disk. All or nothing: on 400 nothing was recorded, and `details` has a message for each ' +
          'problem, beginning with the index of the query.',
        security: [{ recordingKey: [] }, { adminKey: [] }],
        params: ProjectPath,
        querystring: NoParameters,
        body: jsonOrNdjsonBody(QueriesSchema, 'Query', 'One query per line.'),
        response: {
          200: jsonResponse(RecordResultSchema, 'The queries are on disk.'),
          ...errorResponses(400, 401, 403, 404, 405, 413, 415, 429, 500, 503),
        },
      },
      attachValidation: true,
      preParsing: refuseUnknownEncoding,
      errorHandler: async (error, request, reply) => {
        // Without the store, nothing can be proved.
        if (!(error instanceof CallerStatsError && error.code === 'unavailable'))
          await authenticator.prove(request, reply);
        throw error;
      },
      handler: async (request, reply) => {
        requireNoParameters(request);
        const sender = { kind: 'key', keyId: sendingKey(request).id } as const;
        const { result, queries, project } = await authenticator.record(request, reply, async (proof) => {
          const project = openedProject(request);
          const queries = await parseQueries(request, project, clock.now());
          const result = await recordQueries(options, sender, project.id, queries, proof);
          return { result, queries, project };
        });
        const isOld = ({ occurredAt }: Query) => project.earliestAt === null && occurredAt < likelyTimeMsMin;
        const old = queries.filter(isOld).length;
        arrivals.noteRecorded(request, result, old);
        if (old > 0)
          warnOfOldTimes(request.log, { reqId: request.id, keyId: sender.keyId, queries: old }, OLD_TIMES);
        return result;
      },
      onSend: (request, { statusCode }, payload, done) => {
        if (statusCode >= 400) arrivals.noteItemsRefused(request, statusCode);
        done(null, payload);
      },
    },
  });
}

/** A key that records reads nothing. */
function keyTypesOf({ method }: FastifyRequest): readonly KeyType[] {
  return method === 'GET' || method === 'HEAD' ? ['admin'] : ['recording', 'admin'];
}

const OLD_TIMES = 'queries of a time before 2000 were recorded; check the unit and the clock of the sender';

function parseQueries(request: FastifyRequest, project: Project, nowMs: number): Promise<Query[]> {
  return parseItems(request, { many: 'queries', done: 'recorded' }, (item) => {
    const query = parseQuery(item, nowMs);
    const problem = query.ok ? earliestProblem(project, query.value.occurredAt) : undefined;
    return problem === undefined ? query : failure(problem);
  });
}
