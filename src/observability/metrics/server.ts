/**
 * `GET /metrics`, on a separate address, so that a public proxy does not expose it. Errors, headers, methods and limits are
 * those of the service.
 */
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { headerBytesMax, headersTimeoutMs, lateRequestsIntervalMs } from '../../domain/limits.js';
import { ConnectionErrors } from '../../http/connection/connection-errors.js';
import { trackConnections } from '../../http/connection/connections.js';
import { answerError, HttpError } from '../../http/errors.js';
import { addSecurityHeaders, SECURITY_HEADERS } from '../../http/headers.js';
import { frameworkLog } from '../../http/log.js';
import { acceptAllMethods, addResource, mergeOtherMethods } from '../../http/resource.js';
import type { MetricsPage } from './metrics.js';

/** Enough for a few Prometheus servers and browsers. */
const connectionsMax = 20;

/** The app, ready to listen. */
export async function buildMetricsApp(metrics: MetricsPage, log: Logger): Promise<FastifyInstance> {
  const connectionErrors = new ConnectionErrors();
  const app = Fastify({
    loggerInstance: frameworkLog(log),
    logController: new LogController({ disableRequestLogging: true }),
    rewriteUrl: mergeOtherMethods,
    requestTimeout: headersTimeoutMs,
    routerOptions: { maxParamLength: headerBytesMax },
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: lateRequestsIntervalMs,
    },
    forceCloseConnections: true,
    clientErrorHandler: connectionErrors.onClientError,
    frameworkErrors: (error, request, reply) => {
      answerError(error, request, reply.headers(SECURITY_HEADERS));
    },
  });
  trackConnections(app.server);
  connectionErrors.watch(app.server);
  app.server.maxConnections = connectionsMax;
  acceptAllMethods(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw new HttpError(404, 'There is no such route; here is only /metrics.');
  });
  addSecurityHeaders(app);
  addResource(app, '/metrics', {
    GET: {
      handler: async (_request, reply) => reply.type(metrics.contentType).send(await metrics.show()),
    },
  });
  await app.ready();
  return app;
}
