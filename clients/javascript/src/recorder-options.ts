/// <reference lib="esnext.disposable" preserve="true" />
import type { RequestError } from '../../../src/shared/api-client.js';
import type { Platform } from './platform.js';
import type { Query, QueuedQuery } from './query.js';

/** Why queries were dropped. */
export interface DropReason {
  /**
   * - `invalid`: the argument of `record` is not a valid query;
   * - `queue-full`: `queueMax` queries were already waiting;
   * - `refused`: the server rejected the query permanently;
   * - `closed`: the recorder was closed before `record` was called, or before the server responded; in the second case
   *   the query may have been recorded;
   * - `unconfigured`: `url`, `projectId` or `key` is missing;
   * - `spooled`: like `closed`, but the query is on disk and will be sent by the next process that has the spool.
   */
  readonly code: 'invalid' | 'queue-full' | 'refused' | 'closed' | 'unconfigured' | 'spooled';
  /** A message for people, with why the last request failed; for `refused`, the server's message. */
  readonly message: string;
}

/** Stores queued queries so that they survive the process. `caller-stats-client/spool` implements it for Node. */
export interface Spool {
  /**
   * The queries that earlier processes left for this project. Called once. `later` is called when there may be more, with a
   * function that loads them.
   */
  load(projectId: string, later: (load: () => readonly QueuedQuery[]) => void): readonly QueuedQuery[];
  /** Stores a query before `record` returns. */
  append(query: QueuedQuery): void;
  /** Receives the queries that are still queued, oldest first. All others can be removed. */
  settle(waiting: readonly QueuedQuery[]): void;
  /** Releases files and locks. Called last. */
  close(): void;
}

export interface RecorderOptions {
  /**
   * The server's URL, such as `https://stats.example.com`. If `url`, `projectId` or `key` is missing, as in a build without
   * the variables of production, the recorder drops every query, and warns once.
   */
  readonly url: string | undefined;
  readonly projectId: string | undefined;
  /** A recording key of the project, or an admin key with the scope `write`. */
  readonly key: string | undefined;
  /** Queries per request, 1 to 10,000 (the server's default limit). Default: 1,000. */
  readonly batchMax?: number;
  /** Milliseconds to wait for more queries before sending a batch that is not full. Default: 1,000. */
  readonly delayMs?: number;
  /** Maximum queue length; further queries are dropped. Default: 100,000, about 30 MB with UUIDs as ids. */
  readonly queueMax?: number;
  /** Request timeout in milliseconds; the request is then retried. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Maximum delay after the first failure, in milliseconds; doubles with each consecutive failure. Default: 500. */
  readonly retryBaseMs?: number;
  /** Maximum delay between retries, in milliseconds, unless the server sends `Retry-After`. Default: 30,000. */
  readonly retryMaxMs?: number;
  /** How long `flush`, `close` and the end of the process wait for the server, in milliseconds. Default: 10,000. */
  readonly closeTimeoutMs?: number;
  /** Called with every dropped query. Errors that it throws are ignored. Without it, the console has the first of each cause. */
  readonly onDrop?: (queries: readonly QueuedQuery[], reason: DropReason) => void;
  /**
   * Called for every failed request, which is then retried, and if the spool fails. Errors that it throws are ignored. Without
   * it, the console has the first failure of each kind, and that requests work again.
   */
  readonly onError?: (error: RequestError | Error) => void;
  readonly spool?: Spool;
  /** Replaces `fetch`, timers, clock and random numbers, for tests. */
  readonly platform?: Partial<Platform>;
}

/** Counters of this recorder. Each `record` call and each query from the spool is in exactly one of the first four. */
export interface RecorderStats {
  /** Queries waiting to be acknowledged, including those in the current request. */
  readonly queued: number;
  /** Queries that the server counted. */
  readonly recorded: number;
  /** Queries that the server had already recorded. */
  readonly duplicates: number;
  /** Dropped queries; each was passed to `onDrop`. */
  readonly dropped: number;
  /** Requests that failed. */
  readonly failures: number;
}

export interface FlushOptions {
  /** Default: `closeTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Stops waiting. */
  readonly signal?: AbortSignal;
}

/** Records queries. No method throws or rejects; only `flush` and `close` wait for the server. */
export interface Recorder extends AsyncDisposable {
  /** Queues a query and returns immediately. Invalid queries, and queries that do not fit, are passed to `onDrop`. */
  record(query: Query): void;
  /** Lets `flush` and `close` first wait for work that records queries, such as looking up their ids. Middleware calls it. */
  waitFor(work: Promise<unknown>): void;
  /**
   * Sends queued queries without delay. Resolves with true when everything recorded before the call is acknowledged or
   * dropped; with false on timeout or abort, in which case sending continues.
   *
   * On edge runtimes, which stop after the response, call `ctx.waitUntil(recorder.flush())`. In Cloudflare's workers, only
   * `flush` and `close` send: those queries that no other call is sending.
   */
  flush(options?: FlushOptions): Promise<boolean>;
  /**
   * Stops accepting queries and flushes. Queries that remain after the timeout are dropped or stay in the spool; it then
   * resolves with false.
   */
  close(options?: FlushOptions): Promise<boolean>;
  readonly stats: RecorderStats;
}

/** The numeric options, validated and with defaults. */
export type RecorderSettings = ReturnType<typeof parseOptions>;

export function parseOptions(options: RecorderOptions) {
  const number = (name: keyof RecorderOptions, fallback: number, min = 0, max = 2 ** 31 - 1): number => {
    const value = options[name] ?? fallback;
    // JavaScript timers with a longer delay fire immediately.
    if (typeof value === 'number' && value >= min && value <= max) return value;
    throw new RangeError(`${name}: ${value} is not a number from ${min} to ${max}`);
  };
  return {
    batchMax: Math.trunc(number('batchMax', 1000, 1, 10_000)),
    delayMs: number('delayMs', 1000),
    queueMax: number('queueMax', 100_000, 1),
    timeoutMs: number('timeoutMs', 10_000, 1),
    retryBaseMs: number('retryBaseMs', 500),
    retryMaxMs: number('retryMaxMs', 30_000),
    closeTimeoutMs: number('closeTimeoutMs', 10_000),
  };
}
