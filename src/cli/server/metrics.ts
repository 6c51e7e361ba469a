/** The metrics of a server. The metrics library is loaded only if a port for metrics is set. */
import cluster from 'node:cluster';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { MetricData, Metrics } from '../../observability/metrics/metrics.js';
import { locationOf } from '../../storage/open.js';
import type { Store } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import type { Values } from '../settings/settings.js';
import { printLine } from '../terminal/output.js';
import { listen, localUrl } from './listen.js';
import { answerQuestions, askWorkers } from './workers.js';

type MetricsSettings = Values<'metrics' | 'database' | 'workers'>;

export async function openMetrics(
  { metrics, database }: MetricsSettings,
  { monotonicMs }: Io,
  version: string,
): Promise<Metrics | undefined> {
  if (metrics === null) return undefined;
  const { Metrics } = await import('../../observability/metrics/metrics.js');
  return new Metrics(monotonicMs, { version, database: locationOf(database).kind });
}

/** Serves `/metrics`; the caller closes the app. With several workers, the primary process serves the metrics of all. */
export async function serveMetrics(
  metrics: Metrics | undefined,
  { metrics: address, workers }: MetricsSettings,
  { store, log, io }: { readonly store: Store; readonly log: Logger; readonly io: Io },
): Promise<FastifyInstance | undefined> {
  if (metrics === undefined || address === null) return undefined;
  metrics.watchStore(store, io.clock);
  if (cluster.isWorker) {
    answerQuestions(() => metrics.read());
    return undefined;
  }
  const { buildMetricsApp } = await import('../../observability/metrics/server.js');
  const { aggregateWorkers } = await import('../../observability/metrics/aggregate-workers.js');
  const page = workers > 1 ? aggregateWorkers(metrics, askWorkers<MetricData[]>) : metrics;
  const app = await buildMetricsApp(page, log);
  const port = await listen(app, { ...address, hostFlag: 'metrics', portFlag: 'metrics' });
  const url = `${localUrl(address.host, port)}/metrics`;
  log.info({ url }, 'metrics: listening');
  printLine(io.stdout, `Metrics for Prometheus: ${url}`);
  return app;
}
