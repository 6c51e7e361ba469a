/** The metrics of a server: made where they are asked for, and else nothing of them is loaded. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.js';
import { locationOf } from '../storage/open.js';
import type { Store } from '../storage/store.js';
import type { Io } from './io.js';
import { listen, urlOf } from './listen.js';
import { printLine } from './output.js';

export interface MetricsSettings {
  readonly metricsHost: string;
  /** Null for no metrics. */
  readonly metricsPort: number | null;
  readonly database: string;
}

export async function openMetrics(
  { metricsPort, database }: MetricsSettings,
  { monotonicMs }: Io,
  version: string,
): Promise<Metrics | undefined> {
  if (metricsPort === null) return undefined;
  const { Metrics } = await import('../metrics/metrics.js');
  return new Metrics(monotonicMs, { version, database: locationOf(database).kind });
}

/** Listens where the settings say; the caller closes the app. */
export async function serveMetrics(
  metrics: Metrics | undefined,
  { metricsHost, metricsPort }: MetricsSettings,
  { store, log, io }: { readonly store: Store; readonly log: Logger; readonly io: Io },
): Promise<FastifyInstance | undefined> {
  if (metrics === undefined || metricsPort === null) return undefined;
  metrics.watchStore(store);
  const { buildMetricsApp } = await import('../metrics/server.js');
  const app = await buildMetricsApp(metrics, log);
  const port = await listen(app, {
    host: metricsHost,
    port: metricsPort,
    hostFlag: 'metrics-host',
    portFlag: 'metrics-port',
  });
  printLine(io.stdout, `Metrics for Prometheus: ${urlOf(metricsHost, port)}/metrics`);
  return app;
}
