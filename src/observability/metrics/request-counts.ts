/** Counts requests by method, route and status. The number of labels is bounded, because routes are those of the app. */
import { type RouteMetrics, UNMATCHED } from '../../http/server/metrics.js';
import { Durations } from './durations.js';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/** The label of all other methods. */
const OTHER = 'other';

/** The metrics of one method of one route. */
class RouteCounts implements RouteMetrics {
  readonly labels: { readonly method: string; readonly route: string };
  readonly durations = new Durations();
  /** By status. */
  readonly counts = new Map<number, number>();

  constructor(method: string, route: string) {
    this.labels = { method, route };
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
  readonly #routes = new Map<string, RouteCounts>();

  find(givenMethod: string, route: string): RouteCounts {
    const method = METHODS.includes(givenMethod) ? givenMethod : OTHER;
    const name = `${method} ${route}`;
    const counts = this.#routes.get(name) ?? new RouteCounts(method, route);
    this.#routes.set(name, counts);
    return counts;
  }

  /** Counts an invalid request without a method and route. */
  refused(status: number): void {
    this.find(OTHER, UNMATCHED).count(status);
  }

  all(): RouteCounts[] {
    return [...this.#routes.values()];
  }
}
