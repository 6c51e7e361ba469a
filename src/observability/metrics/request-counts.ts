/** Counts requests by method, route and status. The number of labels is bounded, because routes are those of the app. */
import { type RouteMetrics, UNMATCHED } from '../../http/request-metrics.js';
import { Durations } from './durations.js';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/** The label of all other methods. */
const OTHER = 'other';

interface RouteLabels {
  readonly [label: string]: string;
  readonly method: string;
  readonly route: string;
}

/** The metrics of one method of one route. */
class RouteCounts implements RouteMetrics {
  readonly labels: RouteLabels;
  readonly durations = new Durations();
  /** By status. */
  readonly counts = new Map<number, number>();

  constructor(labels: RouteLabels) {
    this.labels = labels;
  }

  answered(status: number, ms: number): void {
    this.count(status);
    this.durations.observe(ms);
  }

  /** Counts without a duration. */
  count(status: number): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
  }
}

export class RequestCounts {
  readonly #routes = new Map<string, Map<string, RouteCounts>>();

  of(method: string, route: string): RouteCounts {
    const known = METHODS.includes(method) ? method : OTHER;
    const methods = this.#routes.get(route) ?? new Map<string, RouteCounts>();
    if (methods.size === 0) this.#routes.set(route, methods);
    const counts = methods.get(known) ?? new RouteCounts({ method: known, route });
    methods.set(known, counts);
    return counts;
  }

  /** Counts an invalid request without a method and route. */
  refused(status: number): void {
    this.of(OTHER, UNMATCHED).count(status);
  }

  all(): RouteCounts[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()]);
  }
}
