/// <reference lib="esnext.disposable" preserve="true" />
import type { CallerStatsError } from './errors.js';
import type { Platform } from './platform.js';
import type { Query, QueuedQuery } from './query.js';

/** Why queries were given up. */
export interface DropReason {
  /**
   * - `invalid`: what `record` was given is no query;
   * - `queue-full`: `queueMax` queries were waiting already;
   * - `refused`: the server will never take it;
   * - `closed`: the recorder was closed before `record`, or before the server had answered: it may or may not have been
   *   recorded;
   * - `spooled`: as `closed`, but the query is on disk and is sent when the spool is next opened.
   */
  readonly code: 'invalid' | 'queue-full' | 'refused' | 'closed' | 'spooled';
  /** The same in words; with `refused` the server's own. */
  readonly message: string;
}

/** Keeps what is recorded where it survives the process: `caller-stats-client/spool` has one for Node. */
export interface Spool {
  /** What an earlier process left, oldest first. Called once. */
  load(): readonly QueuedQuery[];
  /** Keeps a query before `record` returns. */
  append(query: QueuedQuery): void;
  /** The queries that still wait, oldest first: all others are acknowledged or given up. */
  settle(waiting: readonly QueuedQuery[]): void;
  /** Lets go of what it holds; called last. */
  close(): void;
}

export interface RecorderOptions {
  /** The server's address: `https://stats.example.com`. */
  readonly url: string;
  readonly projectId: string;
  /** A recording key of the project, or an admin key that may write. */
  readonly key: string;
  /** Queries in one request; 1 to 10,000, which is what a server takes unless told otherwise. 1,000 unless given. */
  readonly batchMax?: number;
  /** How long a query waits for others to share its request, in milliseconds. 1,000 unless given. */
  readonly delayMs?: number;
  /** Queries that may wait; past it new ones are dropped. 100,000 unless given: some 30 MB where ids are UUIDs. */
  readonly queueMax?: number;
  /** For an answer to arrive, in milliseconds, before the request is repeated. 10,000 unless given. */
  readonly timeoutMs?: number;
  /** The longest wait after a first failed request, in milliseconds; it doubles with each in a row. 500 unless given. */
  readonly retryBaseMs?: number;
  /** The longest wait between two tries, in milliseconds, but for a `Retry-After`. 30,000 unless given. */
  readonly retryMaxMs?: number;
  /** How long `flush`, `close` and the end of a process wait for the server, in milliseconds. 10,000 unless given. */
  readonly closeTimeoutMs?: number;
  /** Told of every query that is given up. What it throws is passed over. */
  readonly onDrop?: (queries: readonly QueuedQuery[], reason: DropReason) => void;
  /** Told of every request that failed, which is then repeated, and of a spool that does. What it throws is passed over. */
  readonly onError?: (error: CallerStatsError | Error) => void;
  readonly spool?: Spool;
  /** What to send requests with, a clock, and chance; the platform's unless given. */
  readonly platform?: Partial<Platform>;
}

/** Counts of this recorder. Each call of `record`, and each query of its spool, is in exactly one of the first four. */
export interface RecorderStats {
  /** Queries that wait, those on their way included. */
  readonly queued: number;
  /** Queries that the server counted. */
  readonly recorded: number;
  /** Queries that the server had already. */
  readonly duplicates: number;
  /** Queries given up; `onDrop` was told of each. */
  readonly dropped: number;
  /** Requests that failed. */
  readonly failures: number;
}

export interface FlushOptions {
  /** `closeTimeoutMs` unless given. */
  readonly timeoutMs?: number;
  /** Stops waiting. */
  readonly signal?: AbortSignal;
}

/** Records queries. No method throws or rejects, and none waits for the server but `flush` and `close`. */
export interface Recorder extends AsyncDisposable {
  /** Takes a query to be sent, and returns at once. One that cannot be taken is dropped, and `onDrop` told. */
  record(query: Query): void;
  /**
   * Sends what waits without delay. Resolves when everything recorded before the call is acknowledged or dropped: with
   * true, or with false where time ran out or the signal said so first; then it goes on being sent.
   *
   * On edge runtimes, where nothing runs on behind a response unless it is told: `ctx.waitUntil(recorder.flush())`.
   */
  flush(options?: FlushOptions): Promise<boolean>;
  /**
   * Takes no more, and flushes; what is left when time runs out is dropped, or stays in the spool. Resolves with false
   * where there was any.
   */
  close(options?: FlushOptions): Promise<boolean>;
  readonly stats: RecorderStats;
}

/** With defaults filled in and everything checked. */
export type RecorderSettings = ReturnType<typeof settingsOf>;

export function settingsOf(options: RecorderOptions) {
  const number = (name: keyof RecorderOptions, fallback: number, min = 0, max = 2 ** 31 - 1): number => {
    const value = options[name] ?? fallback;
    // A timer that is set for longer fires at once.
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
