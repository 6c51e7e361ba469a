/** The Prometheus metrics of the server. Each process has one instance. */
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import type { Delivery } from '../../domain/ingestion/source-counts.js';
import { pendingQueriesMax } from '../../domain/limits.js';
import { DELIVERY_RESULTS, type DeliveryResult } from '../../domain/notifications/delivery.js';
import { NOTIFICATION_KINDS, type NotificationKind } from '../../domain/notifications/notification.js';
import type { Clock } from '../../domain/time/clock.js';
import type { RouteMetrics, ServerMetrics } from '../../http/server/metrics.js';
import { ACCOUNT_EVENTS, type AccountEvent } from '../../http/server/metrics.js';
import type { RecordResult, Store } from '../../storage/ports/store.js';
import type { CommitObserver } from '../../storage/ports/store-stats.js';
import { ArrivalCounts } from './arrival-counts.js';
import { Durations, type MetricLine } from './durations.js';
import { RequestCounts } from './request-counts.js';
import { addStoreStats } from './store-stats.js';

/** The library's metrics of the process that the page shows. */
const PROCESS_METRICS: readonly string[] = [
  'nodejs_version_info',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_eventloop_lag_max_seconds',
];

export class Metrics implements ServerMetrics, CommitObserver {
  /** A monotonic clock, in fractions of milliseconds. */
  readonly now: () => number;
  readonly #registry = new Registry();
  /** All of the library's metrics of the process: some of those shown are collected by others that are not. */
  readonly #processRegistry = new Registry();
  readonly #requests = new RequestCounts();
  readonly #commits = new Durations();
  readonly #arrivals = new ArrivalCounts();
  readonly #queries = { recorded: 0, duplicate: 0 };
  readonly #accountEvents = new Map<string, number>(ACCOUNT_EVENTS.map((event) => [event, 0]));
  /** By kind and result, all of which are shown from the start. */
  readonly #notifications = NOTIFICATION_KINDS.flatMap((kind) =>
    DELIVERY_RESULTS.map((result) => ({ labels: { kind, result }, value: 0 })),
  );
  #updateStoreStats: () => Promise<void> = async () => undefined;

  /** `database` is `sqlite` or `postgresql`. */
  constructor(now: () => number, build: { readonly version: string; readonly database: string }) {
    this.now = now;
    this.#add(
      'gauge',
      'caller_stats_build_info',
      'Always 1; the labels have the version and the database.',
      () => [{ labels: build, value: 1 }],
    );
    this.#add(
      'gauge',
      'caller_stats_queue_queries_limit',
      'Maximum number of queries that wait for a commit; recordings above it are refused with 503.',
      () => [{ labels: {}, value: pendingQueriesMax }],
    );
    this.#add(
      'counter',
      'caller_stats_http_requests_total',
      'Requests by method, route and status; 499 if the client disconnected before the response.',
      () =>
        this.#requests
          .all()
          .flatMap(({ labels, counts }) =>
            [...counts].map(([status, value]) => ({ labels: { ...labels, status: String(status) }, value })),
          ),
    );
    this.#add(
      'histogram',
      'caller_stats_http_request_duration_seconds',
      'Duration of requests, from their headers until the response was sent or the connection closed.',
      (name) => [...this.#requests.durations].flatMap(([route, one]) => one.toLines(name, { route })),
    );
    this.#add(
      'counter',
      'caller_stats_queries_total',
      'Queries in recording requests, by whether they were new.',
      () => Object.entries(this.#queries).map(([outcome, value]) => ({ labels: { outcome }, value })),
    );
    this.#add(
      'counter',
      'caller_stats_ingested_total',
      'Spans, log records and queries that arrived, by what became of them; refused is in requests.',
      () => this.#arrivals.toLines(),
    );
    this.#add(
      'counter',
      'caller_stats_refused_requests_total',
      'Recording requests that were refused, by reason; the page Sources says whose they were.',
      () => this.#arrivals.toRefusalLines(),
    );
    this.#add(
      'counter',
      'caller_stats_account_events_total',
      'Sign-ins, failed and refused ones, and what else happened to accounts.',
      () => [...this.#accountEvents].map(([event, value]) => ({ labels: { event }, value })),
    );
    this.#add(
      'counter',
      'caller_stats_notifications_total',
      'Attempts to send messages of digests and alerts, by kind and result; failed is given up.',
      () => this.#notifications,
    );
    this.#add(
      'histogram',
      'caller_stats_commit_duration_seconds',
      'Duration of commits, until their requests were on disk.',
      (name) => this.#commits.toLines(name),
    );
    collectDefaultMetrics({ register: this.#processRegistry });
    for (const metric of this.#processRegistry.getMetricsAsArray()) {
      if (PROCESS_METRICS.includes(metric.name))
        this.#registry.registerMetric(metric as unknown as Metric<string>);
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Adds the metrics of the store. */
  watchStore(store: Store, clock: Clock): void {
    this.#updateStoreStats = addStoreStats(this.#registry, store, clock);
  }

  /** The page in Prometheus's text format. */
  async show(): Promise<string> {
    await this.#update();
    return this.#registry.metrics();
  }

  requestsTo(method: string, route: string): RouteMetrics {
    return this.#requests.find(method, route);
  }

  refused(status: number): void {
    this.#requests.refused(status);
  }

  accountEvent(event: AccountEvent): void {
    this.#accountEvents.set(event, (this.#accountEvents.get(event) ?? 0) + 1);
  }

  recorded({ recorded, duplicates }: RecordResult): void {
    this.#queries.recorded += recorded;
    this.#queries.duplicate += duplicates;
  }

  arrived(delivery: Delivery): void {
    this.#arrivals.add(delivery);
  }

  notified(kind: NotificationKind, result: DeliveryResult): void {
    const counter = this.#notifications.find(
      ({ labels }) => labels.kind === kind && labels.result === result,
    );
    if (counter !== undefined) counter.value++;
  }

  committed(ms: number): void {
    this.#commits.observe(ms);
  }

  async #update(): Promise<void> {
    await Promise.all([this.#updateStoreStats(), this.#processRegistry.getMetricsAsJSON()]);
  }

  /** Adds a metric whose lines are read when the page is shown. */
  #add(
    type: 'counter' | 'gauge' | 'histogram',
    name: string,
    help: string,
    toLines: (name: string) => MetricLine[],
  ): void {
    // The registry calls nothing else.
    const metric = {
      name,
      get: async () => ({ name, help, type, values: toLines(name) }),
    };
    this.#registry.registerMetric(metric as unknown as Metric<string>);
  }
}
