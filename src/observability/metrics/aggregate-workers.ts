/** Shows the metrics of several processes on one page, with a label for each one. */
import { AggregatorRegistry } from 'prom-client';
import type { MetricData, Metrics, MetricsPage } from './metrics.js';

/** Of the primary process, number 0, or of a worker. A replacement has the number of the worker that ended. */
type WorkerMetrics = { readonly worker: number; readonly answer: readonly MetricData[] };

/**
 * The page of all workers. Values are not added up: a sum of counters would decrease when a process ends, and Prometheus
 * would take that for a restart of all of them.
 */
export function aggregateWorkers(
  primary: Metrics,
  askWorkers: () => Promise<readonly WorkerMetrics[]>,
): MetricsPage {
  return {
    contentType: primary.contentType,
    show: async () => {
      const [answer, others] = await Promise.all([primary.read(), askWorkers()]);
      return AggregatorRegistry.aggregate([{ worker: 0, answer }, ...others].map(addLabel)).metrics();
    },
  };
}

/** Adds the label. The aggregator `sum` keeps every metric, and no two lines have the same labels. */
function addLabel({ worker, answer }: WorkerMetrics): MetricData[] {
  return answer.map((metric) => ({
    ...metric,
    aggregator: 'sum',
    values: metric.values.map((value) => ({ ...value, labels: { worker: String(worker), ...value.labels } })),
  }));
}
