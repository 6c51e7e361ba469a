/**
 * Answers the most common request without the framework: a `GET` of caller stats with a valid key, project and range. The
 * framework takes several times as long to route such a request as it takes to answer it.
 *
 * This file only decides whether the response is 200 with the counts, by the same functions as the route. All other
 * requests go to the framework unchanged. A test compares the responses of both, byte by byte.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { toPrevious } from '../../domain/counting/comparison.js';
import { type CallerStats, callerStatsToJson } from '../../domain/counting/counts.js';
import {
  type CountsRequest,
  parseCountsRequest,
  REPORT_PARAMETER_NAMES,
  REPORT_PARAMETERS,
  type ReportInput,
} from '../../domain/counting/report-request.js';
import { PROJECT_ID_FORM } from '../../domain/projects/project.js';
import type { Clock } from '../../domain/time/clock.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import type { SyncReads } from '../../storage/ports/store.js';
import type { Admission } from '../admission/admission.js';
import { onFinished } from '../connection/connections.js';
import type { Authenticator } from '../request/authenticate.js';
import { type BasePath, withinBasePath } from '../request/base-path.js';
import { SECURITY_HEADERS } from '../server/headers.js';
import type { RouteMetrics, ServerMetrics } from '../server/metrics.js';
import { CALLER_STATS_PATH } from './analytics.js';

interface DirectExportOptions {
  readonly readSync: (work: (reads: SyncReads) => void) => void;
  readonly clock: Clock;
  readonly authenticator: Authenticator;
  readonly admission: Admission;
  readonly metrics: ServerMetrics | undefined;
  readonly basePath: BasePath;
}

/** What a URL asks for. */
interface ExportTarget {
  readonly projectId: string;
  readonly counts: CountsRequest;
}

/** A request that may be answered here. */
interface ExportRequest extends ExportTarget {
  readonly authorization: string;
}

interface PendingExport {
  readonly ask: ExportRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Time of arrival, by the clock of the metrics. */
  readonly startMs: number;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Captures the project id and the query string. */
const PATH = new RegExp(`^${CALLER_STATS_PATH.replace(':projectId', `(${PROJECT_ID_FORM})`)}(?:\\?(.*))?$`);

/** The response headers, in the framework's order. */
const HEADERS: readonly string[] = [
  ...Object.entries(SECURITY_HEADERS).flat(),
  ...['content-type', 'application/json; charset=utf-8'],
  'content-length',
];

/** Clients repeat their requests, and reading a URL takes longer than all else. At most 2 MB. */
const targetsMax = 4_000;
const targetUrlMax = 500;

export class DirectExport {
  readonly #options: DirectExportOptions;
  readonly #routeMetrics: RouteMetrics | undefined;
  /** By URL. Only those that mean the same at any time. */
  readonly #targets = new BoundedCache<string, ExportTarget>(targetsMax);
  #waiting: PendingExport[] = [];
  #framework: Handler = () => undefined;
  #closing = false;

  constructor(options: DirectExportOptions) {
    this.#options = options;
    this.#routeMetrics = options.metrics?.requestsTo('GET', CALLER_STATS_PATH);
  }

  /** Receives the requests of the app's server before the app does. Call it after all other listeners were added. */
  watch(app: FastifyInstance): void {
    app.addHook('preClose', async () => {
      this.#closing = true;
    });
    const { server } = app;
    const handlers = server.listeners('request') as Handler[];
    this.#framework = (request, response) => {
      for (const handler of handlers) handler.call(server, request, response);
    };
    server.removeAllListeners('request');
    server.on('request', (request, response) => this.#take(request, response));
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const ask = this.#parse(request);
    if (ask === undefined) {
      this.#framework(request, response);
      return;
    }
    this.#waiting.push({ ask, request, response, startMs: this.#options.metrics?.now() ?? 0 });
    // One snapshot, newer than each of them, answers all requests that have arrived by then.
    if (this.#waiting.length === 1) setImmediate(() => this.#answerAll());
  }

  /** Undefined if the framework must answer. */
  #parse({ method, url = '', rawHeaders }: IncomingMessage): ExportRequest | undefined {
    if (method !== 'GET') return undefined;
    const target = this.#targets.get(url) ?? this.#parseTarget(url);
    if (target === undefined) return undefined;
    const authorization = onlyAuthorization(rawHeaders);
    return authorization === undefined
      ? undefined
      : { authorization, projectId: target.projectId, counts: target.counts };
  }

  #parseTarget(url: string): ExportTarget | undefined {
    const { basePath, clock } = this.#options;
    const [, projectId, query = ''] = PATH.exec(withinBasePath(url, basePath) ?? '') ?? [];
    if (projectId === undefined) return undefined;
    const input = readParameters(query);
    const counts = input && parseCountsRequest(input, { nowMs: clock.now() });
    if (!counts?.ok) return undefined;
    const target = { projectId, counts: counts.value };
    // Periods, and the range to compare with, depend on the time.
    const isTimeless = input?.period === undefined && input?.compare === undefined;
    if (isTimeless && url.length <= targetUrlMax) this.#targets.set(url, target);
    return target;
  }

  #answerAll(): void {
    const exchanges = this.#waiting;
    this.#waiting = [];
    const answers = this.#countAll(exchanges);
    for (const [at, exchange] of exchanges.entries()) {
      const { request, response } = exchange;
      const counted = answers[at];
      if (counted === undefined || this.#closing) this.#framework(request, response);
      else this.#answer(exchange, counted);
    }
  }

  /** The counts for each request; undefined for requests that the framework must answer. */
  #countAll(exchanges: readonly PendingExport[]): (CallerStats | undefined)[] {
    const { readSync, clock, authenticator, admission } = this.#options;
    if (admission.refusesReading()) return [];
    const nowMs = clock.now();
    const answers: (CallerStats | undefined)[] = [];
    try {
      readSync((reads) => {
        for (const { ask } of exchanges) {
          const { authorization, projectId, counts } = ask;
          const isAdmitted = authenticator.admits(authorization, projectId, reads, nowMs);
          answers.push(isAdmitted ? count(reads, projectId, counts) : undefined);
        }
      });
    } catch {
      // The framework will meet the same error of the store, and responds and logs.
      return [];
    }
    return answers;
  }

  #answer({ request, response, startMs }: PendingExport, counts: CallerStats): void {
    const body = callerStatsToJson(counts);
    response.writeHead(200, [...HEADERS, String(body.length)]);
    // The body is ASCII, which this encoding does not convert.
    response.end(body, 'latin1');
    // Usually the kernel has buffered the whole response by now: it has gone out, and needs no deadline.
    if (response.socket?.writableLength === 0) {
      this.#measure(startMs);
      return;
    }
    onFinished(request, response, () => this.#measure(startMs));
  }

  /** Call it when the response has been sent or the connection is closed, as for all other requests. */
  #measure(startMs: number): void {
    const { metrics } = this.#options;
    if (metrics !== undefined) this.#routeMetrics?.answered(200, metrics.now() - startMs);
  }
}

/** As the report `CALLER_STATS` reads it. */
function count(
  reads: SyncReads,
  projectId: string,
  { range, compared, caller, timeZone }: CountsRequest,
): CallerStats {
  const counts = reads.count(projectId, range, caller);
  if (compared === undefined) return counts;
  return { ...counts, previous: toPrevious(compared, timeZone, reads.count(projectId, compared, caller)) };
}

/** Most other headers have names of other lengths, which tells them apart without changing their case. */
const NAME_LENGTHS = ['host', 'authorization', 'content-length', 'transfer-encoding'].map(
  (one) => one.length,
);

/** The value of `Authorization` if the request has exactly one, exactly one `Host`, and no body. */
function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  let hosts = 0;
  let authorization: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!NAME_LENGTHS.includes(name.length)) continue;
    switch (name.toLowerCase()) {
      case 'host':
        hosts++;
        break;
      case 'authorization':
        if (authorization !== undefined) return undefined;
        authorization = rawHeaders[at + 1];
        break;
      case 'content-length':
      case 'transfer-encoding':
        return undefined;
    }
  }
  return hosts === 1 ? authorization : undefined;
}

/** The field of each parameter. */
const FIELDS = new Map<string, keyof ReportInput>(
  REPORT_PARAMETERS.callerStats.map((field) => [REPORT_PARAMETER_NAMES[field], field]),
);

/**
 * The parameters, if the query string has each at most once, no other, and no encoded character but colons and slashes.
 */
function readParameters(query: string): ReportInput | undefined {
  // A plus is an encoded space.
  if (query.includes('+')) return undefined;
  const input: { -readonly [Field in keyof ReportInput]: string } = {};
  for (const parameter of query === '' ? [] : query.split('&')) {
    const nameEnd = parameter.indexOf('=');
    const field = FIELDS.get(parameter.slice(0, Math.max(nameEnd, 0)));
    if (field === undefined || field in input) return undefined;
    input[field] = parameter
      .slice(nameEnd + 1)
      .replaceAll('%3A', ':')
      .replaceAll('%2F', '/');
  }
  return input;
}
