/** Builds the HTTP application without listening: tests pass their own store, clock and logger. */
import { Readable } from 'node:stream';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { ClockWatch } from '../app/jobs/clock-watch.js';
import { IngestionMonitor } from '../app/jobs/ingestion-monitor.js';
import { Notifier, type NotifierOptions } from '../app/jobs/notifier.js';
import { sendNotifications } from '../app/jobs/send-notifications.js';
import { Channels } from '../app/notifications/channels/channels.js';
import { Mailer, type MailOptions } from '../app/notifications/channels/mailer.js';
import { Poster } from '../app/notifications/channels/poster.js';
import type { NotificationSetup } from '../app/notifications/notifications.js';
import { Applications } from '../auth/applications/applications.js';
import { AuthProvider, type UsersOptions } from '../auth/auth-provider.js';
import { SealedTexts } from '../auth/sealed-texts.js';
import type { LoadLimits } from '../domain/admission.js';
import { createNetworks } from '../domain/keys/networks.js';
import {
  answerTimeoutMs,
  connectionsMax,
  correctionsBytesMax,
  eventLoopDelayMsMax,
  jsonPartBytes,
  keepAliveTimeoutMs,
  queryPartsMax,
  recordingBytesMax,
  recordingsMax,
  reportsMax,
  requestsMax,
  requestTimeoutMs,
  unreadBytesMax,
  waitingReportsMax,
} from '../domain/limits.js';
import { ProjectRules } from '../domain/queries/telemetry-settings.js';
import type { Clock } from '../domain/time/clock.js';
import { loadAll } from '../shared/later.js';
import { Slots } from '../shared/slots.js';
import type { RecordResult, Store } from '../storage/ports/store.js';
import { Admission, watchEventLoop } from './admission/admission.js';
import { FailureLimit, RateLimit, type RateLimits } from './admission/rate-limits.js';
import { onFinished } from './connection/connections.js';
import { type ConnectionLimits, limitConnections } from './connection/deadlines.js';
import type { DashboardSettings } from './dashboard/context.js';
import { addDashboardApi } from './dashboard/dashboard.js';
import { addPages } from './dashboard/pages.js';
import { Grpc } from './grpc/grpc.js';
import { addOtlp } from './otlp/otlp.js';
import { Authenticator } from './request/authenticate.js';
import { type BasePath, rewriteBelow } from './request/base-path.js';
import { addRecordingParsers, type RecordingLimits } from './request/body.js';
import { addOpenedFields } from './request/opened.js';
import { addAnalytics } from './routes/analytics.js';
import { addApplications } from './routes/applications.js';
import { addCorrections } from './routes/corrections.js';
import { addDocs } from './routes/docs.js';
import { addImportedCounts } from './routes/imported-counts.js';
import { addMcp, type ToolEndpoint } from './routes/mcp.js';
import { addOpenApi } from './routes/open-api.js';
import { addOperations } from './routes/operations.js';
import { addQueries } from './routes/queries.js';
import { addCompilers } from './schemas/compilers.js';
import { SHARED_SCHEMAS } from './schemas/schemas.js';
import { UnavailableError } from './server/errors.js';
import { sendFilesFromMemory } from './server/files.js';
import { createFramework } from './server/framework.js';
import { requireClearHeaders, securityHeaders } from './server/headers.js';
import { RequestLog } from './server/log.js';
import { observeRequests, type ServerMetrics } from './server/metrics.js';
import { RefusalLog } from './server/refusal-log.js';

/** Creates a trace of each request. */
export interface RequestTracing {
  watch(app: FastifyInstance): void;
}

/** How messages of notifications leave the server. */
interface NotificationOptions {
  /** Undefined if the server sends no e-mail. */
  readonly mail: MailOptions | undefined;
  /** Private networks that messages may go to, in the form of `parseNetwork`. */
  readonly privateNetworks: readonly string[];
}

export interface AppOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Left out, the clock is believed. */
  readonly clockWatch?: ClockWatch;
  /** The limits without a setting may be left out. */
  readonly limits: RecordingLimits & RateLimits & Partial<LoadLimits & ConnectionLimits>;
  /** The prefix of every path. */
  readonly basePath: BasePath;
  /** Proxies whose `X-Forwarded-For` is trusted, in the form of `parseNetwork`. */
  readonly trustProxy: readonly string[];
  readonly dashboard: DashboardSettings;
  /** The folder of the documentation's built site. */
  readonly docs: string;
  readonly users: Omit<UsersOptions, 'store' | 'clock' | 'log' | 'basePath'>;
  readonly notifications: NotificationOptions;
  readonly log: Logger;
  /** Observes every request. */
  readonly metrics?: ServerMetrics | undefined;
  /** Answers calls of the tools for AI assistants. */
  readonly mcp: ToolEndpoint;
  /** Traces requests. */
  readonly tracing?: RequestTracing | undefined;
  /** Mean delay of the event loop in milliseconds; measured by default. */
  readonly eventLoopDelayMs?: () => number;
}

const FIXED_LIMITS: LoadLimits & ConnectionLimits = {
  recordingsMax,
  recordingBytesMax,
  correctionsBytesMax,
  requestsMax,
  unreadBytesMax,
  eventLoopDelayMsMax,
  connectionsMax,
  requestTimeoutMs,
  answerTimeoutMs,
};

/** The app, ready to listen or to receive requests with `inject`. It does not close the store. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { store, clock, basePath, log, metrics, tracing } = options;
  const limits = { ...FIXED_LIMITS, ...options.limits };
  const refusals = new RefusalLog(log, clock);
  const app = createServer({ ...options, limits }, refusals);
  // There must be room for one request of the largest size, compressed, decompressed and parsed.
  const largest = 2 * limits.bodyBytesMax + limits.batchQueriesMax * queryPartsMax * jsonPartBytes;
  const bytesMax = Math.max(limits.recordingBytesMax, largest);
  const admission = new Admission(
    { ...limits, recordingBytesMax: bytesMax },
    clock,
    options.eventLoopDelayMs ?? watchEventLoop(app),
  );
  if (metrics !== undefined) observeRequests(app, metrics);
  tracing?.watch(app);
  refuseWhileClosing(app);
  admission.watch(app);
  requireClearHeaders(app);
  admission.share(app);
  addOpenedFields(app);
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema);
  addOpenApi(app, basePath);

  const requests = new RateLimit('organization', limits.requestsPerMinute);
  const failures = new FailureLimit(limits.failuresPerMinute);
  const authenticator = new Authenticator({ store, clock, requests, failures, log: app.log });
  const projectRules = new ProjectRules();
  const ingestion = new IngestionMonitor({ store, clock, projectRules, log: app.log, metrics });
  const slots = new Slots(reportsMax, waitingReportsMax);
  addAnalytics(app, { store, clock, ingestion, slots }, authenticator);
  const recording = {
    store,
    onRecorded: (result: RecordResult) => metrics?.recorded(result),
    clock,
    authenticator,
    limits,
    admission,
    ingestion,
  };
  addRecordingParsers(app, limits, admission);
  addQueries(app, recording);
  addImportedCounts(app, recording);
  await addCorrections(app, { store, clock }, authenticator);
  await addOtlp(app, { ...recording, projectRules, clockWatch: options.clockWatch });
  const authProvider = new AuthProvider({ ...options.users, basePath, store, clock, log, metrics });
  const applications = new Applications(authProvider, store.directory);
  const place = { basePath, publicUrl: options.users.publicUrl };
  const shown = { ...place, applications, refusals };
  await addMcp(app, { ...shown, store, authenticator, slots, answer: options.mcp });
  await addApplications(app, { ...shown, failures });
  addOperations(app, store, clock);
  const notifications = createNotifications(options, authProvider);
  const notifier = new Notifier({ ...notifications, clock: options.clockWatch ?? clock });
  runWhileOpen(app, (signal) => [
    ingestion.run(signal),
    sendNotifications(notifier, { signal, log: app.log, clockWatch: options.clockWatch }),
  ]);
  await addDashboardApi(app, {
    ...options.dashboard,
    basePath,
    authProvider,
    applications,
    notifications,
    store,
    clock,
    requests,
    ingestion,
    slots,
    failures,
    refusals,
  });
  closeUnreadExports(app);
  await addSites(app, options);
  app.addHook('onListen', loadAll);
  await app.ready();
  return app;
}

/** Runs jobs of every process from when the app is ready until it is closed and has answered its last request. */
function runWhileOpen(app: FastifyInstance, start: (signal: AbortSignal) => Promise<void>[]): void {
  const stop = new AbortController();
  let running: readonly Promise<void>[] = [];
  app.addHook('onReady', async () => {
    running = start(stop.signal);
  });
  app.addHook('onClose', async () => {
    stop.abort();
    await Promise.all(running);
  });
}

/** What checks notifications, and what the pages need to change and test them. */
function createNotifications(
  { store, clock, basePath, users, dashboard, notifications, metrics, log }: AppOptions,
  authProvider: AuthProvider,
): NotificationSetup & NotifierOptions {
  const { mail, privateNetworks } = notifications;
  const { publicUrl } = users;
  const pagesUrl = publicUrl && `${publicUrl}${basePath}`;
  return {
    store,
    clock,
    channels: new Channels(new Poster(privateNetworks), mail && new Mailer(mail)),
    seal: new SealedTexts('notifications', () => authProvider.secrets()),
    pagesUrl,
    linkTo: (projectId) => pagesUrl && `${pagesUrl}/projects/${projectId}`,
    notified: metrics && ((kind, result) => metrics.notified(kind, result)),
    warn: (details, message) => log.warn(details, message),
    randomInt: dashboard.randomInt,
  };
}

/** The framework with the limits of connections, without routes. */
function createServer(
  {
    limits,
    basePath,
    trustProxy,
    users,
    dashboard,
    log,
    metrics,
  }: AppOptions & { readonly limits: ConnectionLimits },
  refusals: RefusalLog,
): FastifyInstance {
  const grpc = new Grpc({ basePath, security: securityHeaders(users.publicUrl) });
  const app = createFramework(
    log,
    `There is no such route; ${basePath}/docs shows those that are.`,
    {
      // Some clients of tools end the address that they are given with a slash.
      rewriteUrl: ({ url = '' }) => rewriteBelow(url, basePath).replace(/^\/mcp\/(?=$|\?)/, '/mcp'),
      // One logger for all requests: the few lines that are written name their request.
      childLoggerFactory: (logger) => logger,
      logController: new RequestLog({ disableRequestLogging: !log.isLevelEnabled('debug') }),
      genReqId: requestIds(dashboard.randomInt),
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      return503OnClosing: false,
      publicUrl: users.publicUrl && `${users.publicUrl}${basePath}`,
      trustProxy: trustProxy.length > 0 && createNetworks(trustProxy),
    },
    {
      refused: (request, status) => refusals.refused(request, status),
      malformed: (status) => {
        metrics?.refused(status);
        refusals.malformed(status);
      },
      take: (error, socket, turns) => grpc.take(error, socket, turns),
    },
  );
  grpc.watch(app);
  limitConnections(app, limits);
  app.removeAllContentTypeParsers();
  addCompilers(app);
  return app;
}

/** The pages of the dashboard and the documentation. Only files that exist at the start are served. */
async function addSites(
  app: FastifyInstance,
  { dashboard, docs, basePath, users }: AppOptions,
): Promise<void> {
  await app.register(fastifyStatic, {
    root: [dashboard.pages, docs],
    serve: false,
    preCompressed: true,
    cacheControl: false,
  });
  sendFilesFromMemory(app);
  await addDocs(app, docs, { basePath, publicUrl: users.publicUrl });
  await addPages(app, dashboard.pages, basePath);
}

/** Request ids that are unique across nodes and restarts: a random id of the process and a counter. */
function requestIds(randomInt: (max: number) => number): () => string {
  const processId = randomInt(2 ** 40).toString(36);
  let requests = 0;
  return () => `req-${processId}-${(++requests).toString(36)}`;
}

/**
 * If a client pipelines requests and closes the connection, Node reports that for the first request only. The exports that
 * answer the later ones would stay open forever.
 */
function closeUnreadExports(app: FastifyInstance): void {
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (payload instanceof Readable) onFinished(raw, reply.raw, () => payload.destroy());
    done();
  });
}

/** After `close()`, requests in progress are finished, and new ones on open connections get `503`. */
function refuseWhileClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', (_request, _reply, done) => {
    done(closing ? new UnavailableError('The server is stopping; try another or again.') : undefined);
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
}
