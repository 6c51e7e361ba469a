/** The Prometheus metrics of the server. Each process has one instance. */
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';
import { pendingQueriesMax } from '../../domain/limits.js';
import type { RequestMetrics, RouteMetrics } from '../../http/request-metrics.js';
import type { RecordResult, Store } from '../../storage/ports/store.js';
import type { CommitObserver } from '../../storage/ports/store-stats.js';
import { Durations, type HistogramValue } from './durations.js';
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

export type MetricData = MetricObjectWithValues<MetricValue<string>>;

export interface Build {
  readonly version: string;
  /** `sqlite` or `postgresql`. */
  readonly database: string;
}

export interface MetricsPage {
  readonly contentType: string;
  /** The page in Prometheus's text format. */
  show(): Promise<string>;
}

export class Metrics implements RequestMetrics, CommitObserver, MetricsPage {
  /** A monotonic clock, in fractions of milliseconds. */
  readonly now: () => number;
  readonly #registry = new Registry();
  /** All of the library's metrics of the process: some of those shown are collected by others that are not. */
  readonly #processRegistry = new Registry();
  readonly #requests = new RequestCounts();
  readonly #commits = new Durations();
  readonly #queries = { recorded: 0, duplicate: 0 };
  #updateStoreStats: () => Promise<void> = async () => undefined;

  constructor(now: () => number, build: Build) {
    this.now = now;
    this.#addBuild(build);
    this.#addRequests();
    this.#addQueries();
    const commit = 'caller_stats_commit_duration_seconds';
    this.#addHistogram(commit, 'Duration of commits, until their requests were on disk.', () =>
      this.#commits.values(commit),
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
  watchStore(store: Store): void {
    this.#updateStoreStats = addStoreStats(this.#registry, store);
  }

  async show(): Promise<string> {
    await this.#update();
    return this.#registry.metrics();
  }

  /** The metrics as data, for the primary process to collect. */
  async read(): Promise<MetricData[]> {
    await this.#update();
    return this.#registry.getMetricsAsJSON();
  }

  requestsTo(method: string, route: string): RouteMetrics {
    return this.#requests.of(method, route);
  }

  refused(status: number): void {
    this.#requests.refused(status);
  }

  recorded({ recorded, duplicates }: RecordResult): void {
    this.#queries.recorded += recorded;
    this.#queries.duplicate += duplicates;
  }

  committed(ms: number): void {
    this.#commits.observe(ms);
  }

  async #update(): Promise<void> {
    await Promise.all([this.#updateStoreStats(), this.#processRegistry.getMetricsAsJSON()]);
  }

  #addBuild({ version, database }: Build): void {
    const registers = [this.#registry];
    new Gauge({
      name: 'caller_stats_build_info',
      help: 'Always 1; the labels have the version and the database.',
      labelNames: ['version', 'database'],
      registers,
    }).set({ version, database }, 1);
    new Gauge({
      name: 'caller_stats_queue_queries_limit',
      help: 'Maximum number of queries that wait for a commit; recordings above it are refused with 503.',
      registers,
    }).set(pendingQueriesMax);
  }

  #addRequests(): void {
    const requests = this.#requests;
    new Counter({
      name: 'caller_stats_http_requests_total',
      help: 'Requests by method, route and status; 499 if the client disconnected before the response.',
      labelNames: ['method', 'route', 'status'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, counts } of requests.all())
          for (const [status, count] of counts) this.inc({ ...labels, status: String(status) }, count);
      },
    });
    const duration = 'caller_stats_http_request_duration_seconds';
    this.#addHistogram(
      duration,
      'Duration of requests, from their headers until the response was sent or the connection closed.',
      () => requests.all().flatMap(({ labels, durations }) => durations.values(duration, labels)),
    );
  }

  #addQueries(): void {
    const queries = this.#queries;
    new Counter({
      name: 'caller_stats_queries_total',
      help: 'Queries in recording requests, by whether they were new.',
      labelNames: ['outcome'],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [outcome, count] of Object.entries(queries)) this.inc({ outcome }, count);
      },
    });
  }

  #addHistogram(name: string, help: string, values: () => HistogramValue[]): void {
    const metric = {
      name,
      // The registry calls nothing else.
      get: async () =>
        ({
          name,
          help,
          type: 'histogram',
          aggregator: 'sum',
          values: values(),
        }) as unknown as MetricData,
    };
    this.#registry.registerMetric(metric as unknown as Metric<string>);
  }
}
