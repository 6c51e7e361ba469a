/** The operations that read counts: caller stats of a range, caller stats over time, and callers. */

import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteHandler } from 'fastify';
import Negotiator from 'negotiator';
import type { IngestionMonitor } from '../../app/jobs/ingestion-monitor.js';
import { findCallerHint } from '../../app/reading/caller-hint.js';
import { CSV_FORM, JSON_FORM, type Listing, writeInPieces } from '../../app/reading/pieces.js';
import {
  CALLER_STATS,
  CALLERS,
  CHANGES,
  CUT_BOUNDS,
  NUMBERS,
  type Readable,
  type Report,
  readInSlot,
  SERIES,
  WEEK_HOURS,
} from '../../app/reading/reports.js';
import { ALL_TIME } from '../../domain/counting/date-range.js';
import { REPORT_PARAMETER_NAMES, type ReportInput } from '../../domain/counting/report-request.js';
import { CallerStatsError } from '../../domain/errors.js';
import { changesListedMax, seriesBucketsMax } from '../../domain/limits.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Slots } from '../../shared/slots.js';
import type { Store } from '../../storage/ports/store.js';
import { onFinished } from '../connection/connections.js';
import { extendDeadline } from '../connection/deadlines.js';
import { type Authenticator, READING_TYPES } from '../request/authenticate.js';
import { isBoundToProjects, openedProject } from '../request/opened.js';
import { readParameters, requireNoParameters } from '../request/parameters.js';
import { getProjectId } from '../request/target.js';
import {
  CallerStatsParameters,
  CallerStatsSchema,
  CallersParameters,
  CallersSchema,
  ChangesParameters,
  ChangesSchema,
  CutBoundsParameters,
  CutBoundsSchema,
  errorResponses,
  IngestionSchema,
  jsonResponse,
  NoParameters,
  ProjectPath,
  SeriesParameters,
  SeriesSchema,
} from '../schemas/schemas.js';
import { addResource } from '../server/resource.js';

/** In the syntax of the router. */
const CALLER_STATS_PATH = '/v1/analytics/:projectId/assistant/caller-stats';

interface ReportSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly ingestion: IngestionMonitor;
  readonly slots: Slots;
}

/**
 * Creates the handlers of the reports, for requests with an API key, for the dashboard and for share links. Those of the past read
 * all rows of a project, so `ofNow` refuses them to people whom nobody knows.
 */
export function createReportHandlers(
  { store, clock, ingestion, slots }: ReportSources,
  { ofNow = false } = {},
) {
  const readerOf = <Question extends object, Answer extends object, Result>(
    report: Readable<Question, Answer>,
    finish: (
      answer: Answer,
      question: Question,
      request: FastifyRequest,
      reply: FastifyReply,
    ) => Result | Promise<Result>,
  ) => {
    const parameters = report.parameters.filter((one) => !ofNow || one !== 'asOf');
    const names = Object.fromEntries(parameters.map((one) => [one, REPORT_PARAMETER_NAMES[one]]));
    return async (request: FastifyRequest, reply: FastifyReply): Promise<Result> => {
      const question = readParameters<string, Question>(request, names, (parameters: ReportInput) =>
        report.parse(parameters, { nowMs: clock.now(), weekStart: openedProject(request).weekStart }),
      );
      const { id, organizationId } = openedProject(request);
      const onGone = (callback: () => void) => onFinished(request.raw, reply.raw, callback);
      return readInSlot({ slots, owner: organizationId, onGone }, report, question, async () => {
        const answer = await report.read(store, id, question, goOnWhileWaiting(request, reply));
        const listCallers = () => store.counts.countCallers(id, ALL_TIME);
        const hint = await findCallerHint(question, answer, listCallers);
        if (hint !== undefined) reply.header(HINT_HEADER, hint);
        return finish(answer, question, request, reply);
      });
    };
  };
  /** Its list is written in pieces, and in the slot, because the text is as large as the answer. */
  const writerOf = <List extends string, Question extends object, Answer extends Listing<List>>(
    report: Report<Question, Answer>,
    list: List,
    { isAlwaysCsv = false } = {},
  ) => {
    const write = readerOf(report, async (answer, question, request, reply) => {
      if (!isAlwaysCsv) reply.header('vary', 'Accept');
      if (isAlwaysCsv || prefersCsv(request))
        return {
          type: CSV,
          body: await writeInPieces(answer, list, CSV_FORM, (part) => report.toCsv(part, question)),
        };
      // Routes without a schema have no function of their own.
      const toJson = reply.getSerializationFunction('200', 'application/json') ?? JSON.stringify;
      return { type: JSON_TYPE, body: await writeInPieces(answer, list, JSON_FORM, toJson) };
    });
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const { type, body } = await write(request, reply);
      return reply.type(type).send(body);
    };
  };
  const read = <Answer>(answer: Answer) => answer;
  return {
    callerStats: readerOf(CALLER_STATS, read),
    series: writerOf(SERIES, 'buckets'),
    numbers: readerOf(NUMBERS, read),
    weekHours: readerOf(WEEK_HOURS, read),
    cutBounds: readerOf(CUT_BOUNDS, read),
    callers: writerOf(CALLERS, 'callers'),
    changes: readerOf(CHANGES, read),
    seriesCsv: writerOf(SERIES, 'buckets', { isAlwaysCsv: true }),
    callersCsv: writerOf(CALLERS, 'callers', { isAlwaysCsv: true }),
    ingestion: async (request: FastifyRequest) => {
      requireNoParameters(request);
      return ingestion.report(openedProject(request), isBoundToProjects(request) ? 'own' : 'all');
    },
  };
}

/** Gives a request that reads for long more time with each step, and stops when nobody waits for its answer any more. */
function goOnWhileWaiting({ raw }: FastifyRequest, reply: FastifyReply): () => void {
  let isWatched = false;
  let isGone = false;
  return () => {
    if (!isWatched) onFinished(raw, reply.raw, () => (isGone = true));
    isWatched = true;
    if (isGone) throw new CallerStatsError('busy', 'Nobody waits for this answer any more.');
    extendDeadline(raw, reply.raw);
  };
}

/** RFC 7111 and RFC 4180 name the parameter. */
const CSV = 'text/csv; charset=utf-8; header=present';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Says why an answer has no queries. The body has no place for it. */
const HINT_HEADER = 'caller-stats-hint';

/**
 * Whether the response is CSV: if the request's `Accept` prefers it to JSON (RFC 9110, section 12.5.1). JSON also if it
 * accepts neither, as section 12.4.1 allows: a response in another format is more useful than an error.
 */
function prefersCsv(request: FastifyRequest): boolean {
  return new Negotiator(request.raw).mediaType([JSON_TYPE, CSV]) === CSV;
}

const CHANGES_SCHEMA = {
  operationId: 'getChanges',
  summary: 'Why counts have changed',
  description:
    'How the counts of the half-open range [dateFrom, dateTo) have changed since the start of a UTC day: what was recorded since, ' +
    'imported, withdrawn or renamed, by whom, and of which callers. The changes add up exactly to the difference, and `before` ' +
    `is what caller stats answer with \`asOf\`. At most ${changesListedMax} changes; the others are summed. Bounds must lie on ` +
    'quarter hours. Refused with the reason if the past is not known: before the upgrade to a version that keeps it, where ' +
    'retention has removed rows, and while a correction was carried out.',
  querystring: ChangesParameters,
};

export function addAnalytics(
  app: FastifyInstance,
  sources: ReportSources,
  authenticator: Authenticator,
): void {
  const handlers = createReportHandlers(sources);
  const add = (url: string, handler: RouteHandler, success: object, schema: FastifySchema) =>
    addResource(app, url, {
      onRequest: (request, reply) =>
        authenticator.authorize(request, reply, getProjectId(request), READING_TYPES),
      GET: {
        schema: {
          ...schema,
          tags: ['Analytics'],
          security: [{ adminKey: [] }, { readingKey: [] }],
          params: ProjectPath,
          response: { 200: success, ...errorResponses(400, 401, 403, 404, 405, 429, 500, 503) },
        },
        attachValidation: true,
        handler,
      },
    });
  add(CALLER_STATS_PATH, handlers.callerStats, jsonResponse(CallerStatsSchema, 'The counts.'), {
    operationId: 'getCallerStats',
    summary: 'Assistant caller stats',
    description:
      "Counts the queries that the project's assistant got, by the type of their caller, in the half-open range [dateFrom, dateTo).",
    querystring: CallerStatsParameters,
  });
  // CSV has no schema here: generators of clients would make a union with text of every answer.
  const series = jsonResponse(SeriesSchema, 'The buckets.');
  add(`${CALLER_STATS_PATH}/series`, handlers.series, series, {
    operationId: 'getCallerStatsSeries',
    summary: 'Assistant caller stats over time',
    description:
      "Counts the queries that the project's assistant got, by the type of their caller, in each hour, day, week, month, " +
      'quarter or year of a time zone. The buckets cover the range without gaps or overlaps. The first and the last bucket are clipped to ' +
      'the range. The buckets add up to the caller stats of the same range. Without `dateFrom`, the range starts with the ' +
      'first bucket that has a query; without `dateTo`, it ends with the last one. ' +
      `At most ${seriesBucketsMax} buckets. CSV for \`Accept: text/csv\`: by caller, with a column for each caller and one ` +
      'for the rest, or with `layout` a row for each.',
    querystring: SeriesParameters,
  });
  const callers = jsonResponse(CallersSchema, 'The callers.');
  add('/v1/analytics/:projectId/assistant/callers', handlers.callers, callers, {
    operationId: 'getCallers',
    summary: 'Assistant callers',
    description:
      "Counts the queries that the project's assistant got, by caller, in the half-open range [dateFrom, dateTo): the " +
      'name, type and count of each caller with queries, largest count first, then by name. They add up to the caller ' +
      'stats of the same range. CSV for `Accept: text/csv`.',
    querystring: CallersParameters,
  });
  const changes = jsonResponse(ChangesSchema, 'The changes.');
  add('/v1/analytics/:projectId/assistant/changes', handlers.changes, changes, CHANGES_SCHEMA);
  const ingestion = jsonResponse(IngestionSchema, 'The sources.');
  add('/v1/analytics/:projectId/assistant/ingestion', handlers.ingestion, ingestion, {
    operationId: 'getIngestion',
    summary: 'Ingestion diagnostics',
    description:
      'What arrived for the project in the last hour and the last day, by source, and what became of it: recorded, ' +
      'duplicate, rejected, or without a rule that matches. For the latter, the operations that the records name, and the ' +
      'rules that would accept them. Counted in steps of five minutes; a server that crashes loses the last few seconds ' +
      'of it, but never a query.',
    querystring: NoParameters,
  });
  const cuts = jsonResponse(CutBoundsSchema, 'The spans at both bounds.');
  add('/v1/analytics/:projectId/assistant/imported-counts/cuts', handlers.cutBounds, cuts, {
    operationId: 'getCutBounds',
    summary: 'Imported counts that a range cuts',
    description:
      'The queries of an imported count all count at the start of its span. A bound within the span therefore counts ' +
      'all or none of them. This finds the spans that the bounds of a range cut.',
    querystring: CutBoundsParameters,
  });
}
