/** Requests by method, route and status. Labels are bounded: whatever is asked for, a route is one of the app's own. */
import { type RouteMetrics, UNMATCHED } from '../../http/request-metrics.js';
import { Durations } from './durations.js';

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/** Stands for every method that no route takes: there are dozens. */
const OTHER = 'other';

interface RouteLabels {
  readonly [label: string]: string;
  readonly method: string;
  readonly route: string;
}

/** What is known of one method of one route. */
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

  /** Without a time. */
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

  /** A request that was too broken to say what it asks for. */
  refused(status: number): void {
    this.of(OTHER, UNMATCHED).count(status);
  }

  all(): RouteCounts[] {
    return [...this.#routes.values()].flatMap((methods) => [...methods.values()]);
  }
}
