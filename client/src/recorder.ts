/**
 * Sends queries to a server behind its host's back: in batches, one request at a time, in the order they came, again until
 * the server has answered for them. Recording is idempotent, so a request whose answer was lost is simply repeated.
 */
import { backoffMs } from './backoff.js';
import { CallerStatsError } from './errors.js';
import { pack } from './pack.js';
import { Pause } from './pause.js';
import { type Platform, platform } from './platform.js';
import { type Query, type QueuedQuery, queuedQuery } from './query.js';
import {
  type DropReason,
  type FlushOptions,
  type Recorder,
  type RecorderOptions,
  type RecorderSettings,
  type RecorderStats,
  type Spool,
  settingsOf,
} from './recorder-options.js';
import { refusedOf } from './refused.js';
import { addressOf, authorizationOf, request } from './request.js';

/**
 * Makes a recorder. Throws a `RangeError` where an option cannot be used.
 *
 * A process of Node, Bun or Deno that has nothing else to do first sends what waits, for at most `closeTimeoutMs` behind
 * the request that is under way, which takes at most `timeoutMs`.
 * `process.exit()` does not wait for anything: `await recorder.close()` before it.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  return new QueueingRecorder(options);
}

/** A Node process, as far as it is needed; other platforms have none, or one whose functions throw, as Next.js at the edge. */
type Process = Record<'on' | 'off', (event: 'beforeExit', listener: () => void) => void>;

class QueueingRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #settings: RecorderSettings;
  readonly #platform: Platform;
  readonly #address: string;
  readonly #authorization: string;
  /** Oldest first. */
  #queue: QueuedQuery[] = [];
  /** On their way; older than all of the queue. */
  #batch: QueuedQuery[] = [];
  #batchMax: number;
  /** Queries that were ever queued. */
  #accepted = 0;
  #recorded = 0;
  #duplicates = 0;
  #dropped = 0;
  #failures = 0;
  #running = false;
  #closed = false;
  /** Who waits for so many of the accepted queries to be settled. */
  readonly #waiters = new Set<{ readonly target: number; readonly resolve: (settled: boolean) => void }>();
  #abort = new AbortController();
  readonly #pause: Pause;
  /** Whether the queue is waited for to be a full batch. */
  #filling = false;
  #spool: Spool | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#settings = settingsOf(options);
    this.#platform = { ...platform, ...options.platform };
    this.#pause = new Pause(this.#platform);
    this.#address = addressOf(options.url, options.projectId, 'queries');
    this.#authorization = authorizationOf(options.key);
    this.#batchMax = this.#settings.batchMax;
    this.#spool = options.spool;
    this.#keep((spool) => {
      this.#queue = [...spool.load()];
    });
    this.#accepted = this.#queue.length;
    this.#start();
  }

  get stats(): RecorderStats {
    return {
      queued: this.#queue.length + this.#batch.length,
      recorded: this.#recorded,
      duplicates: this.#duplicates,
      dropped: this.#dropped,
      failures: this.#failures,
    };
  }

  record(query: Query): void {
    const waiting = this.#queue.length + this.#batch.length;
    let queued: QueuedQuery | string = 'it cannot be read';
    try {
      queued = queuedQuery(query, this.#platform.now());
    } catch {
      // A getter or proxy that throws.
    }
    if (typeof queued === 'string') this.#drop([query as QueuedQuery], 'invalid', queued);
    else if (this.#closed) this.#drop([queued], 'closed', 'the recorder was closed before');
    else if (waiting < this.#settings.queueMax) this.#take(queued);
    else this.#drop([queued], 'queue-full', `${waiting} queries are waiting already`);
  }

  flush({ timeoutMs = this.#settings.closeTimeoutMs, signal }: FlushOptions = {}): Promise<boolean> {
    return new Promise((resolve) => {
      const target = this.#accepted;
      const stop = (): void => waiter.resolve(false);
      const timer = this.#platform.setTimeout(stop, timeoutMs);
      const waiter = {
        target,
        resolve: (settled: boolean) => {
          this.#waiters.delete(waiter);
          this.#platform.clearTimeout(timer as never);
          signal?.removeEventListener('abort', stop);
          resolve(settled);
        },
      };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', stop);
      if (this.#queue.length + this.#batch.length === 0) waiter.resolve(true);
      if (signal?.aborted) stop();
      // The wait for a fuller batch is over; the one for a server that failed is not, but now it holds the process.
      if (this.#filling) this.#pause.wake();
      else this.#pause.hold();
    });
  }

  async close(options?: FlushOptions): Promise<boolean> {
    this.#closed = true;
    const sent = await this.#finish(options);
    this.#leaveSpool();
    return sent;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close().then(() => {});
  }

  /** Flushes, and gives up what is left. */
  async #finish(options?: FlushOptions): Promise<boolean> {
    const flushed = this.flush(options);
    // One more try at once, however long the last failure was to be waited for: there may be no time for another.
    this.#pause.wake();
    if (await flushed) return true;
    const left = [...this.#batch, ...this.#queue];
    this.#batch = [];
    this.#queue = [];
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#pause.wake();
    this.#closed = true;
    if (this.#leaveSpool()) this.#drop(left, 'spooled', 'it is sent when the spool is next opened');
    else this.#drop(left, 'closed', 'the recorder was closed before the server had answered');
    this.#settled();
    return left.length === 0;
  }

  #take(query: QueuedQuery): void {
    this.#queue.push(query);
    this.#accepted++;
    this.#keep((spool) => spool.append(query));
    this.#start();
    if (this.#filling && this.#queue.length >= this.#batchMax) this.#pause.wake();
  }

  #start(): void {
    if (this.#running || this.#queue.length === 0) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { process } = globalThis as { process?: Partial<Process> };
    const finish = (): void => void this.#finish();
    this.#guard(() => process?.on?.('beforeExit', finish));
    while (this.#queue.length > 0) {
      if (this.#queue.length < this.#batchMax && this.#waiters.size === 0 && !this.#closed) {
        this.#filling = true;
        await this.#pause.wait(this.#settings.delayMs, false);
        this.#filling = false;
      }
      this.#batch = this.#queue.splice(0, this.#batchMax);
      await this.#deliver();
      this.#keep((spool) => spool.settle(this.#queue));
      this.#settled();
    }
    this.#guard(() => process?.off?.('beforeExit', finish));
    this.#running = false;
  }

  /** Until nothing of the batch is left: recorded, refused or given up. */
  async #deliver(): Promise<void> {
    let failures = 0;
    while (this.#batch.length > 0) {
      const batch = this.#batch;
      try {
        const { recorded, duplicates } = await this.#send(batch);
        // Given up meanwhile; then that is what was said of it.
        if (this.#batch !== batch) return;
        this.#recorded += recorded;
        this.#duplicates += duplicates;
        this.#batch = [];
      } catch (cause) {
        if (this.#batch !== batch) return;
        const error = cause as CallerStatsError;
        this.#failures++;
        this.#guard(() => this.#options.onError?.(error));
        if (this.#batch !== batch) return;
        if (!this.#refuse(error)) {
          const ms = backoffMs(error, ++failures, this.#platform.random(), this.#settings);
          await this.#pause.wait(ms, this.#waiters.size > 0);
        }
      }
    }
  }

  /** Takes out of the batch what the server will never take; gives whether there was any, or the batch was too much. */
  #refuse(error: CallerStatsError): boolean {
    if (error.status !== 400 && error.status !== 413) return false;
    const refused = refusedOf(this.#batch, error);
    this.#batch = this.#batch.filter((query) => !refused.has(query));
    if (refused.size === 0) {
      // Which of them it is about is found by halves.
      const half = Math.ceil(this.#batch.length / 2);
      this.#queue = [...this.#batch.splice(half), ...this.#queue];
      if (error.status === 413) this.#batchMax = half;
    }
    for (const [query, words] of refused) this.#drop([query], 'refused', words);
    return true;
  }

  async #send(batch: readonly QueuedQuery[]): Promise<{ recorded: number; duplicates: number }> {
    // Whoever gives up means this request, even where it is not yet made.
    const abort = this.#abort;
    const body = await pack(JSON.stringify(batch));
    const late = this.#platform.setTimeout(
      () => abort.abort(new Error(`no answer in ${this.#settings.timeoutMs} ms`)),
      this.#settings.timeoutMs,
    );
    try {
      const answer = await request(this.#platform, this.#address, {
        method: 'POST',
        headers: {
          authorization: this.#authorization,
          'content-type': 'application/json',
          ...(typeof body === 'string' ? {} : { 'content-encoding': 'gzip' }),
        },
        body,
        signal: abort.signal,
      });
      const { recorded, duplicates } = answer as { recorded: number; duplicates: number };
      if (recorded + duplicates === batch.length) return { recorded, duplicates };
      throw new CallerStatsError('The answer is not about the queries that were sent.', { status: 200 });
    } finally {
      this.#platform.clearTimeout(late as never);
      if (abort.signal.aborted && abort === this.#abort) this.#abort = new AbortController();
    }
  }

  /** Tells those who waited for no more than is settled. A batch counts when nothing of it is left. */
  #settled(): void {
    const settled = this.#accepted - this.#queue.length - this.#batch.length;
    for (const { target, resolve } of this.#waiters) if (settled >= target) resolve(true);
  }

  #drop(queries: readonly QueuedQuery[], code: DropReason['code'], message: string): void {
    this.#dropped += queries.length;
    if (queries.length > 0) this.#guard(() => this.#options.onDrop?.(queries, { code, message }));
  }

  /** Closes the spool, with what is in it; gives whether there was one. */
  #leaveSpool(): boolean {
    const had = this.#spool !== undefined;
    this.#keep((spool) => spool.close());
    this.#spool = undefined;
    return had;
  }

  /** A disk that is full must not stop queries from being sent. */
  #keep(use: (spool: Spool) => void): void {
    try {
      if (this.#spool) use(this.#spool);
    } catch (error) {
      this.#guard(() => this.#options.onError?.(error as Error));
    }
  }

  /** Runs what is not the recorder's own. */
  #guard(run: () => void): void {
    try {
      run();
    } catch {
      // A callback that throws must not stop the rest from being sent.
    }
  }
}
