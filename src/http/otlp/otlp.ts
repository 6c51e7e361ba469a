/** `POST /v1/traces`, `/v1/logs` and `/v1/metrics`: requests of OpenTelemetry exporters and collectors (OTLP/HTTP 1.x). */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RequestPayload } from 'fastify';
import type { ClockWatch } from '../../app/jobs/clock-watch.js';
import { recordTelemetry } from '../../app/record-telemetry.js';
import { CallerStatsError } from '../../domain/errors.js';
import { indexedBytesMax, otlpRecordsMax } from '../../domain/limits.js';
import type { Project } from '../../domain/projects/project.js';
import { type FoundQueries, QueryCollector } from '../../domain/queries/telemetry.js';
import type { ProjectRules, TelemetryRules } from '../../domain/queries/telemetry-settings.js';
import { TraceIndex } from '../../domain/queries/trace-index.js';
import { createThrottledWarning } from '../../shared/throttled-log.js';
import type { Store } from '../../storage/ports/store.js';
import { isCall, unwrapMessage } from '../grpc/message.js';
import { Arrivals } from '../request/arrivals.js';
import type { Authenticator } from '../request/authenticate.js';
import { refuseOtherKinds, refuseOtlpType } from '../request/body.js';
import { openedProject, sendingKey } from '../request/opened.js';
import { requireNoParameters } from '../request/parameters.js';
import { PROJECT_HEADER } from '../request/target.js';
import type { RecordingOptions } from '../routes/queries.js';
import { objectSchema, stringSchema } from '../schemas/json-schema.js';
import { errorResponses, NoParameters } from '../schemas/schemas.js';
import { HttpError, UnavailableError } from '../server/errors.js';
import { addResource } from '../server/resource.js';
import { BodyReader } from './arriving.js';
import { decodedPieces, ENCODINGS, otlpLimit, refuseOtherEncodings } from './body.js';
import { readJson } from './json.js';
import { readProtobuf } from './protobuf.js';
import { otlpErrors, otlpRequestBody, otlpResponse } from './schemas.js';
import { LOGS, METRICS, type RecordReader, type Signal, TRACES } from './signals.js';

type OtlpOptions = RecordingOptions & {
  readonly store: Pick<Store, 'identities'>;
  readonly projectRules: ProjectRules;
  readonly clockWatch: ClockWatch | undefined;
};

const protobufType = 'application/x-protobuf';

/** An upper bound of the memory that a record takes until it is recorded, on average. */
const recordBytes = 500;

/** So much that it takes a turn of its own. */
const turnBytes = 64 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** The service that sent the last record that was read. */
    sentBy: string | undefined;
  }
}

function isProtobuf({ headers }: FastifyRequest): boolean {
  return (headers['content-type'] ?? '').trim().toLowerCase().startsWith(protobufType);
}

export async function addOtlp(app: FastifyInstance, options: OtlpOptions): Promise<void> {
  // A separate context with its own body parsers.
  await app.register(async (own) => {
    own.removeAllContentTypeParsers();
    own.decorateRequest('sentBy', undefined);
    // Reading is up to the handlers.
    own.addContentTypeParser(
      [protobufType, 'application/json'],
      async (_request: FastifyRequest, body: unknown) => body,
    );
    own.addContentTypeParser('*', async () => refuseOtlpType());
    const index = new TraceIndex(indexedBytesMax);
    for (const signal of [TRACES, LOGS]) addSignal(own, signal, options, index);
    addMetrics(own, options);
  });
}

interface OtlpOperation extends FastifySchema {
  /** The outer list of the request in JSON. */
  readonly list: string;
  /** The name of the response's schema. */
  readonly answer: string;
  /** Called for a request that is answered with an error. */
  readonly onRefused?: (request: FastifyRequest) => void;
}

function addOperation(
  app: FastifyInstance,
  url: string,
  { list, answer, onRefused, ...schema }: OtlpOperation,
  authenticator: Authenticator,
  handle: (request: FastifyRequest, reply: FastifyReply, project: Project) => unknown,
): void {
  const projectHeader = stringSchema('The project. Required with an admin key; a recording key has its own.');
  addResource(app, url, {
    onRequest: async (request, reply) => {
      // Node joins repeated headers with commas, and no id has a comma.
      const projectId = request.headers[PROJECT_HEADER]?.toString();
      const allowed = ['recording', 'admin'] as const;
      await authenticator.authorize(request, reply, projectId, allowed);
    },
    POST: {
      schema: {
        ...schema,
        tags: ['Recording'],
        security: [{ recordingKey: [] }, { adminKey: [] }],
        querystring: NoParameters,
        headers: objectSchema({}, { [PROJECT_HEADER]: projectHeader }),
        body: otlpRequestBody(list),
        response: {
          200: otlpResponse(answer),
          ...otlpErrors(errorResponses(400, 401, 403, 404, 405, 413, 415, 429, 500, 503)),
        },
      },
      attachValidation: true,
      config: { isReadInPieces: true },
      preParsing: [unwrapMessage, refuseOtherEncodings],
      handler: async (request, reply) => {
        requireNoParameters(request);
        // Without a body and its type, no parser has run.
        if (request.body === undefined) refuseOtlpType();
        return handle(request, reply, openedProject(request));
      },
      onSend: async (request, reply, payload) => {
        if (reply.statusCode < 400) return payload;
        onRefused?.(request);
        if (isCall(request) || !isProtobuf(request) || typeof payload !== 'string') return payload;
        reply.type(protobufType);
        return encodeStatus((JSON.parse(payload) as { readonly error: string }).error);
      },
    },
  });
}

function addSignal(app: FastifyInstance, signal: Signal, options: OtlpOptions, index: TraceIndex): void {
  const { path, operationId, answer, records, sourceKind: kind } = signal;
  const { ingestion } = options;
  const arrivals = new Arrivals(ingestion, kind);
  // Throttled, because every response names the rejected records to their sender.
  const warn = createThrottledWarning(options.clock);
  const operation = {
    operationId,
    summary: `Record the queries among OpenTelemetry ${records}`,
    description:
      `OTLP/HTTP. Records the ${records} that are queries, according to the settings \`--otlp-…\` of the project, ` +
      'and drops all others. Of a query it stores only the id, the caller and the time. Idempotent: requests ' +
      'can be repeated. The response is sent once the queries are on disk.',
    list: signal.lists[0],
    answer,
    onRefused: (request: FastifyRequest) => arrivals.noteRefused(request, 0, request.sentBy),
  };
  addOperation(app, path, operation, options.authenticator, async (request, reply, project) => {
    // The rules stay the same for the whole request, also if they are changed meanwhile.
    const rules = options.projectRules.find(project);
    const found = await read(request, signal, project, { ...options, rules, index });
    const nowMs = options.clock.now();
    const expiryMs = options.clockWatch?.rightMs();
    const batch = { queries: found.queries, id: rules.id, nowMs, expiryMs };
    const keyId = sendingKey(request).id;
    const recordedBy = await record(options, keyId, project.id, batch);
    for (const delivery of found.tally.deliveries(kind, recordedBy, keyId)) ingestion.note(project, delivery);
    const { rejected, problems } = found;
    if (rejected > 0)
      warn(request.log, { reqId: request.id, rejected, problems }, `${records} were rejected`);
    return sendAnswer(request, reply, signal, found);
  });
}

/** Exporters send metrics by default. Refusing them would only fill logs. */
function addMetrics(app: FastifyInstance, options: OtlpOptions): void {
  const { path, operationId, answer, lists } = METRICS;
  const operation = {
    operationId,
    summary: 'Drop OpenTelemetry metrics',
    description:
      'OTLP/HTTP. Accepts and drops metrics, so that exporters which send them report no errors. To send none, set ' +
      '`OTEL_METRICS_EXPORTER=none`.',
    list: lists[0],
    answer,
  };
  addOperation(app, path, operation, options.authenticator, async (request, reply) => {
    await readBody(request, METRICS, options, {
      wants: () => false,
      onRecord: () => {},
      onUnreadable: () => {},
    });
    return isProtobuf(request) ? reply.type(protobufType).send(Buffer.alloc(0)) : {};
  });
}

/** As `recordTelemetry`. Throws 503 if the sender should try again. */
async function record(
  ...batch: Parameters<typeof recordTelemetry>
): Promise<Awaited<ReturnType<typeof recordTelemetry>>> {
  try {
    return await recordTelemetry(...batch);
  } catch (error) {
    // The retention limit moved after the project was read. The next attempt rejects only the queries before it.
    if (error instanceof CallerStatsError && error.code === 'invalid')
      throw new UnavailableError(
        'The retention limit of the project has just moved; send the request again.',
      );
    throw error;
  }
}

/** The queries among the records of the body. Throws 413 for too many of either. */
async function read(
  request: FastifyRequest,
  signal: Signal,
  { id, createdAt, rowsFrom, earliestAt }: Project,
  options: OtlpOptions & { readonly rules: TelemetryRules; readonly index: TraceIndex },
): Promise<FoundQueries> {
  const { clock, rules, index, admission, limits } = options;
  // A project that was deleted may be followed by another one with its id.
  const receipt = { project: `${id} ${createdAt}`, nowMs: clock.now(), rowsFrom, earliestAt };
  const collector = new QueryCollector(rules, receipt, index);
  const counted = () => {
    request.sentBy = collector.service;
    refuseMore(collector.size, limits.batchQueriesMax, 'queries');
  };
  await readBody(request, signal, options, {
    wants: (attribute) => collector.reads(attribute),
    onRecord: (record) => {
      collector.add(record);
      counted();
    },
    onUnreadable: (problem, resource) => {
      collector.addUnreadable(problem, resource);
      counted();
    },
  });
  const steps = collector.result();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await admission.turn(turnBytes);
  }
}

/** Reads the body as it arrives. Throws 400 if it cannot be split into records. */
async function readBody(
  request: FastifyRequest,
  signal: Signal,
  { admission, limits }: OtlpOptions,
  reading: Omit<RecordReader, 'onRead'>,
): Promise<void> {
  let [records, counted] = [0, 0];
  const onRead = () => refuseMore(++records, otlpRecordsMax, signal.records);
  const readRecords = isProtobuf(request) ? readProtobuf : readJson;
  const reader = new BodyReader((arriving) => readRecords(arriving, signal, { ...reading, onRead }));
  const readOn = async (canGoOn: boolean) => {
    for (let goesOn = canGoOn; goesOn; goesOn = reader.goOn()) await admission.turn(turnBytes);
  };
  const keep = (bytes: number) => admission.count(request, bytes);
  const limit = { bytesMax: otlpLimit(limits.bodyBytesMax), records: signal.records, keep };
  const pieces = decodedPieces(request, request.body as RequestPayload, limit);
  for await (const piece of refuseOtherKinds(pieces, request, ENCODINGS)) {
    await admission.turn(piece.length);
    await readOn(reader.add(piece));
    const held = reader.held + records * recordBytes;
    if (held <= counted) continue;
    keep(held - counted);
    counted = held;
  }
  await readOn(reader.end());
}

function refuseMore(count: number, countMax: number, items: string): void {
  if (count > countMax)
    throw new HttpError(413, `The body has more than ${countMax} ${items}; send fewer at a time.`);
}

/** Responds in the encoding of the request, as the specification requires. */
function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  signal: Signal,
  { rejected, problems }: FoundQueries,
): object {
  const more = rejected - problems.length;
  const errorMessage = `Not recorded: ${problems.join(' | ')}${more === 0 ? '' : ` | and ${more} more`}`;
  if (isProtobuf(request))
    return reply.type(protobufType).send(rejected === 0 ? Buffer.alloc(0) : encode(rejected, errorMessage));
  return rejected === 0 ? {} : { partialSuccess: { [signal.rejected]: String(rejected), errorMessage } };
}

/**
 * `Export…ServiceResponse` with `partial_success`: the number of rejected records and the reasons. The status stays 200, because
 * the protocol's clients drop a request that is refused as a whole.
 */
function encode(rejected: number, errorMessage: string): Buffer {
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).fork();
  message.tag(1, WireType.Varint).int64(rejected).tag(2, WireType.LengthDelimited).string(errorMessage);
  return Buffer.from(message.join().finish());
}

/** An error is a `google.rpc.Status` with a message, as the protocol asks for. Its code is that of HTTP. */
function encodeStatus(message: string): Buffer {
  return Buffer.from(new BinaryWriter().tag(2, WireType.LengthDelimited).string(message).finish());
}
