/** The metrics of a server. The metrics library is loaded only if a port for metrics is set. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { MetricData, Metrics, MetricsPage } from '../../observability/metrics/metrics.js';
import { locationOf } from '../../storage/open.js';
import type { Store } from '../../storage/ports/store.js';
import type { Io } from '../io.js';
import type { Values } from '../settings/settings.js';
import { printLine } from '../terminal/output.js';
import { listen, localUrl } from './listen.js';
import { answerQuestions, askWorkers, isWorker } from './workers.js';

type MetricsSettings = Values<'metricsHost' | 'metricsPort' | 'database' | 'workers'>;

export async function openMetrics(
  { metricsPort, database }: MetricsSettings,
  { monotonicMs }: Io,
  version: string,
): Promise<Metrics | undefined> {
  if (metricsPort === null) return undefined;
  const { Metrics } = await import('../../observability/metrics/metrics.js');
  return new Metrics(monotonicMs, { version, database: locationOf(database).kind });
}

/** Serves `/metrics`; the caller closes the app. With several workers, the primary process serves the metrics of all. */
export async function serveMetrics(
  metrics: Metrics | undefined,
  { metricsHost, metricsPort, workers }: MetricsSettings,
  { store, log, io }: { readonly store: Store; readonly log: Logger; readonly io: Io },
): Promise<FastifyInstance | undefined> {
  if (metrics === undefined || metricsPort === null) return undefined;
  metrics.watchStore(store);
  if (isWorker()) {
    answerQuestions(() => metrics.read());
    return undefined;
  }
  const { buildMetricsApp } = await import('../../observability/metrics/server.js');
  const app = await buildMetricsApp(workers > 1 ? await aggregatePage(metrics) : metrics, log);
  const port = await listen(app, {
    host: metricsHost,
    port: metricsPort,
    hostFlag: 'metrics-host',
    portFlag: 'metrics-port',
  });
  const url = `${localUrl(metricsHost, port)}/metrics`;
  log.info({ url }, 'metrics: listening');
  printLine(io.stdout, `Metrics for Prometheus: ${url}`);
  return app;
}

async function aggregatePage(metrics: Metrics): Promise<MetricsPage> {
  const { aggregateWorkers } = await import('../../observability/metrics/aggregate-workers.js');
  return aggregateWorkers(metrics.contentType, async () => {
    const [own, others] = await Promise.all([metrics.read(), askWorkers<MetricData[]>()]);
    return [
      { worker: 0, metrics: own },
      ...others.map(({ number, answer }) => ({ worker: number, metrics: answer })),
    ];
  });
}
