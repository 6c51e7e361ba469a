/** Builds the HTTP application from what it needs, without listening: tests hand in store, clock and logger. */
import { Readable } from 'node:stream';
import fastifyStatic from '@fastify/static';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { AuthProvider, type UsersOptions } from '../auth/auth-provider.js';
import type { LoadLimits } from '../domain/admission.js';
import { createNetworks } from '../domain/keys/networks.js';
import {
  accountRequestsMax,
  closeGraceMs,
  headerBytesMax,
  headersTimeoutMs,
  keepAliveTimeoutMs,
  lateRequestsIntervalMs,
} from '../domain/limits.js';
import type { TelemetryRules } from '../domain/queries/telemetry.js';
import type { Clock } from '../domain/time/clock.js';
import type { Store } from '../storage/ports/store.js';
import { Admission, watchEventLoop } from './admission/admission.js';
import { RateLimit, type RateLimits } from './admission/rate-limits.js';
import { ConnectionErrors } from './connection/connection-errors.js';
import { onFinished } from './connection/connections.js';
import { enforceDeadlines } from './connection/deadlines.js';
import type { DashboardOptions } from './dashboard/context.js';
import { addDashboardApi } from './dashboard/dashboard.js';
import { addPages } from './dashboard/pages.js';
import { answerError, HttpError, unavailable } from './errors.js';
import { addSecurityHeaders, SECURITY_HEADERS } from './headers.js';
import { frameworkLog, RequestLog } from './log.js';
import { addOtlp } from './otlp/otlp.js';
import { Authenticator } from './request/authenticate.js';
import { type BasePath, rewriteBelow } from './request/base-path.js';
import type { RecordingLimits } from './request/body.js';
import { observeRecordings, observeRequests, type RequestMetrics } from './request-metrics.js';
import { acceptAllMethods } from './resource.js';
import { addCallerStats } from './routes/caller-stats.js';
import { addCallers } from './routes/callers.js';
import { DirectExport } from './routes/direct-export.js';
import { addDocs } from './routes/docs.js';
import { addLeakedKeys } from './routes/leaked-keys.js';
import { addOpenApi, addTryPage } from './routes/open-api.js';
import { addOperations } from './routes/operations.js';
import { addQueries } from './routes/queries.js';
import { addSeries } from './routes/series.js';
import { addCompilers } from './schemas/compilers.js';
import { SHARED_SCHEMAS } from './schemas/schemas.js';

/** Follows requests, for whoever looks for what took how long. */
export interface RequestTracing {
  watch(app: FastifyInstance): void;
}

/** What a connection may take of the server. */
interface ConnectionLimits {
  /** Open ones, at most; more are closed at once. */
  readonly connectionsMax: number;
  /** Milliseconds until a request must have arrived; 408 then. */
  readonly requestTimeoutMs: number;
  /** Milliseconds until its answer must have been made (503 then), and again until it must have been taken. */
  readonly answerTimeoutMs: number;
}

export interface AppOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: RecordingLimits & RateLimits & Omit<LoadLimits, 'accountRequestsMax'> & ConnectionLimits;
  /** What stands before every path. */
  readonly basePath: BasePath;
  /** Proxies whose `X-Forwarded-For` is believed, as `parseNetwork` gives them; none for nobody's. */
  readonly trustProxy: readonly string[];
  /** Which spans and log records are queries. */
  readonly telemetry: TelemetryRules;
  readonly dashboard: Omit<DashboardOptions, 'authProvider' | 'basePath'> & {
    /** The folder of the built pages. */
    readonly pages: string;
  };
  /** The folder of the documentation's built site. */
  readonly docs: string;
  readonly users: Omit<UsersOptions, 'store' | 'clock' | 'log' | 'basePath'>;
  readonly log: Logger;
  /** Is told of every request; nobody unless given. */
  readonly metrics?: RequestMetrics | undefined;
  /** Follows requests through the app; nobody unless given. Then all of them go through the framework. */
  readonly tracing?: RequestTracing | undefined;
  /** Mean delay of the event loop in milliseconds, for tests; measured unless told. */
  readonly eventLoopDelayMs?: () => number;
}

/** The app, ready to listen or to be sent requests with `inject`. It does not close the store. */
export async function buildApp({
  store,
  clock,
  limits,
  basePath,
  trustProxy,
  telemetry,
  dashboard,
  docs,
  users,
  log,
  metrics,
  tracing,
  eventLoopDelayMs,
}: AppOptions): Promise<FastifyInstance> {
  const connectionErrors = new ConnectionErrors((status) => metrics?.refused(status));
  const { requestTimeoutMs, answerTimeoutMs } = limits;
  const app = Fastify({
    ...rewriteBelow(basePath),
    loggerInstance: frameworkLog(log),
    // Not one logger a request: the few lines that are written name their request themselves.
    childLoggerFactory: (logger) => logger,
    logController: new RequestLog({ disableRequestLogging: !log.isLevelEnabled('debug') }),
    genReqId: requestIds(dashboard.randomInt),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Longer than any URL that the header limit lets through: an id that is too long is an unknown one, not another route.
    routerOptions: { maxParamLength: headerBytesMax },
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(lateRequestsIntervalMs, requestTimeoutMs),
      requireHostHeader: false,
    },
    return503OnClosing: false,
    trustProxy: trustProxy.length > 0 && createNetworks(trustProxy).has,
    clientErrorHandler: connectionErrors.onClientError,
    frameworkErrors: (error, request, reply) => {
      // No hook runs before these.
      answerError(error, request, reply.headers(SECURITY_HEADERS));
      metrics?.refused(reply.statusCode);
    },
  });
  connectionErrors.watch(app.server);
  app.server.maxConnections = limits.connectionsMax;
  enforceDeadlines(app, { requestTimeoutMs, answerTimeoutMs, closeGraceMs });
  const admission = new Admission({
    limits: {
      ...limits,
      // One request that has as much as it may, packed and unpacked, must find room.
      recordingBytesMax: Math.max(limits.recordingBytesMax, 2 * limits.bodyBytesMax),
      accountRequestsMax,
    },
    clock,
    eventLoopDelayMs: eventLoopDelayMs ?? watchEventLoop(app),
  });
  acceptAllMethods(app);
  app.removeAllContentTypeParsers();
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw new HttpError(404, `There is no such route; ${basePath}/docs shows those that are.`);
  });
  addCompilers(app);
  if (metrics !== undefined) observeRequests(app, metrics);
  tracing?.watch(app);
  addSecurityHeaders(app);
  refuseWhileClosing(app);
  admission.watch(app);
  requireOneHost(app);
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema);
  await addOpenApi(app, dashboard.version, basePath);

  const requests = new RateLimit('organization', limits.requestsPerMinute);
  const failures = new RateLimit('failures', limits.failuresPerMinute);
  const authenticator = new Authenticator({ store, clock, requests, failures, log: app.log });
  addCallerStats(app, store, authenticator);
  addSeries(app, store, authenticator);
  addCallers(app, store, authenticator);
  const recording = observeRecordings(store, metrics);
  addQueries(app, { store: recording, clock, authenticator, limits, admission });
  await addOtlp(app, { store: recording, clock, authenticator, limits, telemetry, admission });
  await addLeakedKeys(app, { store, clock, failures });
  addOperations(app, store);
  await addDashboardApi(app, {
    ...dashboard,
    basePath,
    authProvider: new AuthProvider({ ...users, basePath, store, clock, log }),
    store,
    clock,
  });
  closeUnreadFiles(app);
  // What is there when it starts and nothing else: each file that is served has a name that was found then.
  await app.register(fastifyStatic, {
    root: [dashboard.pages, docs],
    serve: false,
    preCompressed: true,
    cacheControl: false,
  });
  await addPages(app, dashboard.pages, basePath);
  await addDocs(app, docs, basePath);
  await addTryPage(app, basePath);
  // Not where each request is to be logged, or traced.
  if (store.readSync !== undefined && tracing === undefined && !log.isLevelEnabled('debug')) {
    const { readSync } = store;
    new DirectExport({ readSync, clock, authenticator, admission, basePath, metrics }).watch(app);
  }
  await app.ready();
  return app;
}

/** Ids that tell the requests of all nodes and restarts apart: which process, by chance, and which of its requests. */
function requestIds(randomInt: (max: number) => number): () => string {
  const processId = randomInt(2 ** 40).toString(36);
  let requests = 0;
  return () => `req-${processId}-${(++requests).toString(36)}`;
}

/** RFC 9112, section 3.2. Node's own refusal of none has no body, and of two it takes the first. */
function requireOneHost(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const hosts = raw.rawHeaders.filter(
      (name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host',
    );
    if (hosts.length > 1) throw new HttpError(400, 'The request has more than one Host header.');
    if (hosts.length === 0 && raw.httpVersion === '1.1')
      throw new HttpError(400, 'The request has no Host header.');
  });
}

/**
 * Of the requests that a client sends ahead, Node tells only the first that the connection is closed. A file that answers a
 * later one would stay open forever.
 */
function closeUnreadFiles(app: FastifyInstance): void {
  app.addHook('onSend', async ({ raw }, reply, payload) => {
    if (payload instanceof Readable) onFinished(raw, reply.raw, () => payload.destroy());
  });
}

/** Once `close()` is called: what is being answered is finished, what comes on open connections is sent away. */
function refuseWhileClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', async () => {
    if (closing) throw unavailable('The server is stopping; try another or again.');
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close');
  });
}
