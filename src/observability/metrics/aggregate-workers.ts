/** Shows the metrics of several processes on one page, with a label for each one. */
import { AggregatorRegistry } from 'prom-client';
import type { MetricData, MetricsPage } from './metrics.js';

export interface WorkerMetrics {
  /** 0 for the primary process, 1 and up for workers. A replacement has the number of the worker that ended. */
  readonly worker: number;
  readonly metrics: readonly MetricData[];
}

/**
 * The page of all workers. Values are not added up: a sum of counters would decrease when a process ends, and Prometheus
 * would take that for a restart of all of them.
 */
export function aggregateWorkers(
  contentType: string,
  parts: () => Promise<readonly WorkerMetrics[]>,
): MetricsPage {
  return {
    contentType,
    show: async () => AggregatorRegistry.aggregate((await parts()).map(addLabel)).metrics(),
  };
}

/** Adds the label. The aggregator `sum` keeps every metric, and no two lines have the same labels. */
function addLabel({ worker, metrics }: WorkerMetrics): MetricData[] {
  return metrics.map((metric) => ({
    ...metric,
    aggregator: 'sum',
    values: metric.values.map((value) => ({ ...value, labels: { worker: String(worker), ...value.labels } })),
  }));
}
