/**
 * `GET /metrics`, on a separate address, so that a public proxy does not expose it. Errors, headers, methods and limits are
 * those of the service.
 */
import { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { headersTimeoutMs } from '../../domain/limits.js';
import { trackConnections } from '../../http/connection/connections.js';
import { createFramework } from '../../http/server/framework.js';
import { requireClearHeaders } from '../../http/server/headers.js';
import { addResource } from '../../http/server/resource.js';
import type { Metrics } from './metrics.js';

/** Enough for a few Prometheus servers and browsers. */
const connectionsMax = 20;

/** The app, ready to listen. */
export async function buildMetricsApp(
  metrics: Pick<Metrics, 'contentType' | 'show'>,
  log: Logger,
): Promise<FastifyInstance> {
  const app = createFramework(log, 'There is no such route; here is only /metrics.', {
    logController: new LogController({ disableRequestLogging: true }),
    requestTimeout: headersTimeoutMs,
    forceCloseConnections: true,
  });
  requireClearHeaders(app);
  trackConnections(app.server);
  app.server.maxConnections = connectionsMax;
  addResource(app, '/metrics', {
    GET: {
      handler: async (_request, reply) => reply.type(metrics.contentType).send(await metrics.show()),
    },
  });
  await app.ready();
  return app;
}
