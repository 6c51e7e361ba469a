/** Metrics of several processes on one page: each line says of which it is. */
import { AggregatorRegistry } from 'prom-client';
import type { MetricData, MetricsPage } from './metrics.js';

/** What one process measured. */
export interface WorkerMetrics {
  /** 0 for the process that starts the others, which are 1 and up; another one in the place of one that ended has its number. */
  readonly worker: number;
  readonly metrics: readonly MetricData[];
}

/**
 * The page of `parts`, read anew each time. Nothing is added up: a sum of counters would go back when a process ends, which
 * Prometheus takes for a restart of all of them.
 */
export function aggregateWorkers(
  contentType: string,
  parts: () => Promise<readonly WorkerMetrics[]>,
): MetricsPage {
  return {
    contentType,
    show: async () => AggregatorRegistry.aggregate((await parts()).map(labelled)).metrics(),
  };
}

/** To be put together line by line, also those metrics that the library would leave out of a sum. */
function labelled({ worker, metrics }: WorkerMetrics): MetricData[] {
  return metrics.map((metric) => ({
    ...metric,
    aggregator: 'sum',
    values: metric.values.map((value) => ({ ...value, labels: { worker: String(worker), ...value.labels } })),
  }));
}
