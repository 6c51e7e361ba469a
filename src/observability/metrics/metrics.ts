/** What the server measures of itself, in the words of Prometheus. One for each process that is watched. */
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

/** Of the library's own metrics of the process, those that are worth their lines. */
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

/** A metric with all its lines. */
export type MetricData = MetricObjectWithValues<MetricValue<string>>;

export interface Build {
  readonly version: string;
  /** The kind of store. */
  readonly database: string;
}

/** What `/metrics` shows. */
export interface MetricsPage {
  readonly contentType: string;
  /** All of it in Prometheus's text format. */
  show(): Promise<string>;
}

export class Metrics implements RequestMetrics, CommitObserver, MetricsPage {
  /** Milliseconds, in fractions, of a clock that only goes forward. */
  readonly now: () => number;
  readonly #registry = new Registry();
  /** All that the library knows of the process: some of it is found out only together with what is not shown. */
  readonly #ofProcess = new Registry();
  readonly #requests = new RequestCounts();
  readonly #commits = new Durations();
  readonly #queries = { recorded: 0, duplicate: 0 };
  #lookAtStore: () => Promise<void> = async () => undefined;

  constructor(now: () => number, build: Build) {
    this.now = now;
    this.#addBuild(build);
    this.#addRequests();
    this.#addQueries();
    const commit = 'caller_stats_commit_duration_seconds';
    this.#addHistogram(commit, 'How long writing a group of requests took, until it was on disk.', () =>
      this.#commits.values(commit),
    );
    collectDefaultMetrics({ register: this.#ofProcess });
    for (const metric of this.#ofProcess.getMetricsAsArray()) {
      if (PROCESS_METRICS.includes(metric.name))
        this.#registry.registerMetric(metric as unknown as Metric<string>);
    }
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** From now on what the store says of itself is shown as well. */
  watchStore(store: Store): void {
    this.#lookAtStore = addStoreStats(this.#registry, store);
  }

  async show(): Promise<string> {
    await this.#look();
    return this.#registry.metrics();
  }

  /** The same as data, to be sent elsewhere. */
  async read(): Promise<MetricData[]> {
    await this.#look();
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

  async #look(): Promise<void> {
    await Promise.all([this.#lookAtStore(), this.#ofProcess.getMetricsAsJSON()]);
  }

  #addBuild({ version, database }: Build): void {
    const registers = [this.#registry];
    new Gauge({
      name: 'caller_stats_build_info',
      help: 'Always 1; its labels say what runs.',
      labelNames: ['version', 'database'],
      registers,
    }).set({ version, database }, 1);
    new Gauge({
      name: 'caller_stats_queue_queries_limit',
      help: 'Queries that may wait to be written; recordings beyond it are refused with 503.',
      registers,
    }).set(pendingQueriesMax);
  }

  #addRequests(): void {
    const requests = this.#requests;
    new Counter({
      name: 'caller_stats_http_requests_total',
      help: 'Requests that were answered, by the template of their route; 499 where the client went away before.',
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
      'How long requests took, from their headers until the response had gone out or the connection was gone.',
      () => requests.all().flatMap(({ labels, durations }) => durations.values(duration, labels)),
    );
  }

  #addQueries(): void {
    const queries = this.#queries;
    new Counter({
      name: 'caller_stats_queries_total',
      help: 'Queries that recording requests brought, by whether they were new.',
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
      // All that the registry asks of a metric.
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
