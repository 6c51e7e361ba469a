/**
 * Counts requests by method, route and status, and their durations by route. The number of labels is bounded, because routes are those of
 * the app. A histogram has a dozen lines, so only the routes of programs have one each: pages and their API share another.
 */
import { type RouteMetrics, UNMATCHED } from '../../http/server/metrics.js';
import { Durations } from './durations.js';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/** The label of all other methods, and of the durations of all other routes. */
const OTHER = 'other';

/** The routes with durations of their own. */
const TIMED = /^\/(v1\/|mcp$)/;

/** The metrics of one method of one route. */
class RouteCounts implements RouteMetrics {
  readonly labels: { readonly method: string; readonly route: string };
  readonly #durations: Durations;
  /** By status. */
  readonly counts = new Map<number, number>();

  constructor(method: string, route: string, durations: Durations) {
    this.labels = { method, route };
    this.#durations = durations;
  }

  answered(status: number, ms: number): void {
    this.count(status);
    this.#durations.observe(ms);
  }

  /** Counts without a duration. */
  count(status: number): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
  }
}

export class RequestCounts {
  readonly #routes = new Map<string, RouteCounts>();
  /** By route, or `other`. */
  readonly durations = new Map<string, Durations>();

  find(givenMethod: string, route: string): RouteCounts {
    const method = METHODS.includes(givenMethod) ? givenMethod : OTHER;
    const name = `${method} ${route}`;
    let counts = this.#routes.get(name);
    if (counts === undefined) {
      const timed = TIMED.test(route) ? route : OTHER;
      const durations = this.durations.get(timed) ?? new Durations();
      this.durations.set(timed, durations);
      counts = new RouteCounts(method, route, durations);
      this.#routes.set(name, counts);
    }
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
