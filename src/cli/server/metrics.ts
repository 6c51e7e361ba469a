/** The metrics of a server. The metrics library is loaded only if a port for metrics is set. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../../observability/metrics/metrics.js';
import { locationOf } from '../../storage/open.js';
import type { Store } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import type { Values } from '../settings/settings.js';
import { printLine } from '../terminal/output.js';
import { listen, localUrl } from './listen.js';

type MetricsSettings = Values<'metrics' | 'database'>;

export async function openMetrics(
  { metrics, database }: MetricsSettings,
  { monotonicMs }: Io,
  version: string,
): Promise<Metrics | undefined> {
  if (metrics === null) return undefined;
  const { Metrics } = await import('../../observability/metrics/metrics.js');
  return new Metrics(monotonicMs, { version, database: locationOf(database).kind });
}

/** Serves `/metrics`; the caller closes the app. */
export async function serveMetrics(
  metrics: Metrics | undefined,
  { metrics: address }: MetricsSettings,
  { store, log, io }: { readonly store: Store; readonly log: Logger; readonly io: Io },
): Promise<FastifyInstance | undefined> {
  if (metrics === undefined || address === null) return undefined;
  metrics.watchStore(store, io.clock);
  const { buildMetricsApp } = await import('../../observability/metrics/server.js');
  const app = await buildMetricsApp(metrics, log);
  const port = await listen(app, { ...address, hostFlag: 'metrics', portFlag: 'metrics' });
  const url = `${localUrl(address.host, port)}/metrics`;
  log.info({ url }, 'metrics: listening');
  printLine(io.stdout, `Metrics for Prometheus: ${url}`);
  return app;
}
