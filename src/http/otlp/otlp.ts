/** `POST /v1/traces`, `/v1/logs` and `/v1/metrics`: what OpenTelemetry's exporters and Collector send (OTLP/HTTP 1.x). */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import type { Project } from '../../domain/projects/project.js';
import {
  type FoundQueries,
  isReadAttribute,
  QueryCollector,
  type TelemetryRules,
} from '../../domain/queries/telemetry.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import type { Admission } from '../admission/admission.js';
import { HttpError, unavailable } from '../errors.js';
import type { Authenticator } from '../request/authenticate.js';
import {
  addOtlpParsers,
  type RecordingLimits,
  refuseOtlpType,
  refuseUnknownEncoding,
} from '../request/body.js';
import { requireNoParameters } from '../request/parameters.js';
import { getProjectIdFromHeader, PROJECT_HEADER } from '../request/target.js';
import { addResource } from '../resource.js';
import { objectSchema, stringSchema } from '../schemas/json-schema.js';
import { errorResponses, NoParameters } from '../schemas/schemas.js';
import { ThrottledLog } from '../throttled-log.js';
import { readJson } from './json.js';
import { readProtobuf } from './protobuf.js';
import { METRICS_ANSWER, otlpRequestBody, otlpResponse } from './schemas.js';
import { LOGS, type Signal, TRACES } from './signals.js';

export interface OtlpOptions {
  readonly store: Pick<Store, 'record'>;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly limits: RecordingLimits;
  readonly telemetry: TelemetryRules;
  readonly admission: Admission;
}

const protobufType = 'application/x-protobuf';

export async function addOtlp(app: FastifyInstance, options: OtlpOptions): Promise<void> {
  // A context of its own, for body parsers of its own.
  await app.register(async (own) => {
    own.removeAllContentTypeParsers();
    addOtlpParsers(own, options.limits, options.admission);
    for (const signal of [TRACES, LOGS]) addSignal(own, signal, options);
    addMetrics(own, options);
  });
}

/** What all operations of OTLP have in common. */
const shared = {
  tags: ['Recording'],
  security: [{ recordingKey: [] }, { adminKey: [] }],
  querystring: NoParameters,
  headers: objectSchema(
    {},
    { [PROJECT_HEADER]: stringSchema('The project. An admin key needs it; a recording key has its own.') },
  ),
};

const errors = errorResponses(400, 401, 403, 404, 405, 413, 415, 429, 500, 503);

function addSignal(app: FastifyInstance, signal: Signal, options: OtlpOptions): void {
  const projects = new WeakMap<FastifyRequest, Project>();
  // Whose spans are rejected is told so in every answer; who runs the server need not read each.
  const warning = new ThrottledLog(options.clock);
  addResource(app, signal.path, {
    onRequest: async (request, reply) => {
      projects.set(request, await authorize(request, reply, options.authenticator));
    },
    POST: {
      schema: {
        ...shared,
        operationId: signal.operationId,
        summary: `Record the queries among OpenTelemetry ${signal.records}`,
        description:
          `OTLP/HTTP. Those of the ${signal.records} that are queries are recorded, by the settings that begin with ` +
          '`--otlp-`; all others are accepted and dropped, and so is everything else that a query has but its id, ' +
          'caller and time. Idempotent: repeat anything. The answer comes when the queries are on disk.',
        body: otlpRequestBody(signal.lists[0]),
        response: { 200: otlpResponse(signal.answer), ...errors },
      },
      attachValidation: true,
      preParsing: refuseUnknownEncoding,
      handler: async (request, reply) => {
        requireNoParameters(request);
        const project = projects.get(request);
        if (project === undefined) throw new Error('a request got here without its project');
        const found = read(request, signal, project, options);
        await record(project, found, options.store);
        if (found.rejected > 0) {
          const { rejected, problems } = found;
          warning.warn(
            request.log,
            { reqId: request.id, rejected, problems },
            `${signal.records} were rejected`,
          );
        }
        return answer(request, reply, signal, found);
      },
    },
  });
}

/** Exporters send metrics too unless they are told not to. Nothing in them is a query; refusing them would only make noise. */
function addMetrics(app: FastifyInstance, { authenticator }: OtlpOptions): void {
  addResource(app, '/v1/metrics', {
    onRequest: async (request, reply) => {
      await authorize(request, reply, authenticator);
    },
    POST: {
      schema: {
        ...shared,
        operationId: 'exportMetrics',
        summary: 'Drop OpenTelemetry metrics',
        description:
          'OTLP/HTTP. Accepts metrics and drops them, so that an exporter which sends them has nothing to complain of. ' +
          'Better is to send none: `OTEL_METRICS_EXPORTER=none`.',
        body: otlpRequestBody('resourceMetrics'),
        response: { 200: otlpResponse(METRICS_ANSWER), ...errors },
      },
      attachValidation: true,
      preParsing: refuseUnknownEncoding,
      handler: async (request, reply) => {
        requireNoParameters(request);
        if (request.body === undefined) refuseOtlpType();
        return Buffer.isBuffer(request.body) ? reply.type(protobufType).send(Buffer.alloc(0)) : {};
      },
    },
  });
}

function authorize(request: FastifyRequest, reply: FastifyReply, authenticator: Authenticator) {
  return authenticator.authorize(request, reply, getProjectIdFromHeader(request), ['recording', 'admin']);
}

/** The queries among the records of the body. `400` where it is no message of OTLP, `413` for too many queries. */
function read(
  request: FastifyRequest,
  signal: Signal,
  { rowsFrom }: Project,
  { clock, limits: { batchQueriesMax }, telemetry }: OtlpOptions,
): FoundQueries {
  const { body } = request;
  // Without a type and a body no parser was asked.
  if (body === undefined) refuseOtlpType();
  const collector = new QueryCollector(telemetry, { nowMs: clock.now(), rowsFrom });
  const reading = {
    wants: (attribute: string) => isReadAttribute(telemetry, attribute),
    onRecord: (one: Parameters<QueryCollector['add']>[0]) => {
      collector.add(one);
      if (collector.size > batchQueriesMax) {
        throw new HttpError(413, `The body has more than ${batchQueriesMax} queries; send fewer at a time.`);
      }
    },
  };
  if (Buffer.isBuffer(body)) readProtobuf(body, signal, reading);
  else readJson(body, signal, reading);
  return collector.result();
}

async function record(
  project: Project,
  { queries }: FoundQueries,
  store: OtlpOptions['store'],
): Promise<void> {
  if (queries.length === 0) return;
  try {
    await store.record(project.id, queries);
  } catch (error) {
    // Since the project was looked up its retention gave up more rows. Once more, and those queries alone are rejected.
    if (error instanceof CallerStatsError && error.code === 'invalid')
      throw unavailable('The retention of the project has just moved on; send this again.');
    throw error;
  }
}

/** In the encoding of the request, as the specification has it. */
function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  signal: Signal,
  { rejected, problems }: FoundQueries,
): object {
  const more = rejected - problems.length;
  const errorMessage = `Not recorded: ${problems.join(' | ')}${more === 0 ? '' : ` | and ${more} more`}`;
  if (Buffer.isBuffer(request.body))
    return reply.type(protobufType).send(rejected === 0 ? Buffer.alloc(0) : encode(rejected, errorMessage));
  return rejected === 0 ? {} : { partialSuccess: { [signal.rejected]: String(rejected), errorMessage } };
}

/** `Export…ServiceResponse`, with its `partial_success` of two fields: how many, and why. */
function encode(rejected: number, errorMessage: string): Buffer {
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  message.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(errorMessage);
  return Buffer.from(message.join().finish());
}
