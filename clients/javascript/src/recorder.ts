/**
 * Sends queries to the server in the background: in order, in batches, one request at a time. Each batch is retried until
 * the server acknowledges it, which is safe because recording is idempotent.
 */
import { authorizationHeader, operationUrl, RequestError, request } from '../../../src/shared/api-client.js';
import { backoffMs, compress } from './delivery.js';
import { Pause, type Platform, platform } from './platform.js';
import { type Query, type QueuedQuery, toQueuedQuery } from './query.js';
import {
  type DropReason,
  type FlushOptions,
  parseOptions,
  type Recorder,
  type RecorderOptions,
  type RecorderSettings,
  type RecorderStats,
  type Spool,
} from './recorder-options.js';
import { callSafely, isRejection, Reports } from './reports.js';

/**
 * Creates a recorder. Throws a `RangeError` if an option is invalid, but not if `url`, `projectId` or `key` is missing.
 *
 * When a process of Node, Bun or Deno has nothing else to do, it sends the queued queries before it exits: for at most
 * `closeTimeoutMs` after the current request, which takes at most `timeoutMs`.
 * Call `await recorder.close()` before `process.exit()`; otherwise queued queries are lost.
 */
export function createRecorder(options: RecorderOptions): Recorder {
  return new QueueingRecorder(options);
}

/** What the server answers; anything else is not of this server. */
interface RecordResult {
  readonly recorded: number;
  readonly duplicates: number;
}

type Counts = { -readonly [Name in Exclude<keyof RecorderStats, 'queued'>]: number };

/** Node's `process`. Other platforms have none, or one without these functions, or whose functions throw (Next.js on the edge). */
interface Process {
  on(event: 'beforeExit' | 'exit', listener: () => unknown): Process;
  off(event: 'beforeExit' | 'exit', listener: () => unknown): Process;
}

interface Global {
  readonly process: Process;
}

const REQUIRED = ['url', 'projectId', 'key'] as const;

class QueueingRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #settings: RecorderSettings;
  readonly #platform: Platform;
  #url = '';
  #authorization = '';
  /** The names of required options without a value. */
  readonly #missing: string;
  readonly #reports: Reports;
  /** Oldest first. */
  #queue: QueuedQuery[] = [];
  /** The queries of the current request; older than the queue. */
  #batch: QueuedQuery[] = [];
  #batchMax: number;
  /**
   * The size of the next batch. Failures halve it, because a server or proxy may close the connection instead of answering
   * that a batch is too large. Successes double it again, up to `#batchMax`.
   */
  #batchSize: number;
  readonly #counts: Counts;
  /** On platforms whose timers and requests end with a request: one recorder for each pending `flush`. */
  readonly #parts = new Set<QueueingRecorder>();
  /** When `flush` of a part is over at the latest. If it is not, its request was aborted. */
  #endsAtMs = Number.POSITIVE_INFINITY;
  #running = false;
  #closed = false;
  /** Whether what is not sent soon is dropped, and reported then. */
  #finishing = false;
  /** Pending `flush` calls. Each waits for the `left` oldest queries of batch and queue. */
  readonly #waiters = new Set<{ left: number; readonly resolve: (settled: boolean) => void }>();
  /** What `flush` waits for before it looks at the queue. */
  readonly #work = new Set<Promise<unknown>>();
  #abort = new AbortController();
  readonly #pause: Pause;
  /** Whether the recorder is waiting for the batch to fill up. */
  #filling = false;
  #spool: Spool | undefined;
  /** Whether each `flush` sends what is in the queue by a part of its own. */
  readonly #flushesInParts: boolean;

  /** @param whole the recorder of which this one is a part that sends these queries */
  constructor(options: RecorderOptions, whole?: QueueingRecorder, queue: QueuedQuery[] = []) {
    this.#options = options;
    this.#settings = parseOptions(options);
    this.#platform = { ...platform, ...options.platform };
    this.#pause = new Pause(this.#platform);
    this.#batchMax = this.#batchSize = this.#settings.batchMax;
    this.#counts = whole ? whole.#counts : { recorded: 0, duplicates: 0, dropped: 0, failures: 0 };
    this.#flushesInParts = this.#platform.isRequestBound && !whole;
    this.#queue = queue;
    this.#reports = whole ? whole.#reports : new Reports(options, this.#platform);
    if (whole) this.#finishing = whole.#finishing;
    else this.#spool = options.spool;
    const { url = '', projectId = '', key = '' } = options;
    this.#missing = REQUIRED.filter((name) => !options[name]).join(', ');
    if (this.#missing) return;
    this.#url = operationUrl(url, projectId, 'queries');
    this.#authorization = authorizationHeader(key);
    const take = (queries: readonly QueuedQuery[]): void => {
      this.#queue = [...this.#queue, ...queries];
      this.#start();
    };
    const takeMore = (load: () => readonly QueuedQuery[]): void => {
      if (!this.#closed && this.#queued < this.#settings.queueMax) take(load());
    };
    this.#withSpool((spool) => {
      take(spool.load(projectId, (load) => this.#withSpool(() => takeMore(load))));
    });
    this.#start();
  }

  get stats(): RecorderStats {
    return { queued: this.#queued, ...this.#counts };
  }

  get #queued(): number {
    let queued = this.#queue.length + this.#batch.length;
    for (const part of this.#parts) queued += part.#queued;
    return queued;
  }

  record(query: Query): void {
    const waiting = this.#queued;
    let queued: QueuedQuery | string = 'is not readable';
    try {
      queued = toQueuedQuery(query, this.#platform.now());
    } catch {
      // A getter or proxy that throws.
    }
    if (typeof queued === 'string') this.#drop([query as QueuedQuery], 'invalid', queued);
    else if (this.#missing)
      this.#drop([queued], 'unconfigured', `createRecorder was given no ${this.#missing}`);
    else if (this.#closed) this.#drop([queued], 'closed', 'the recorder is closed');
    else if (waiting < this.#settings.queueMax) this.#take(queued);
    else this.#drop([queued], 'queue-full', `${waiting} queries are waiting already`);
  }

  waitFor(work: Promise<unknown>): void {
    // There, what belongs to another request must not be waited for.
    if (this.#flushesInParts) return;
    let over = (): void => {};
    const done = new Promise<void>((resolve) => {
      over = resolve;
    });
    const timer = this.#platform.startTimer(over, this.#settings.closeTimeoutMs);
    timer.keepAlive(false);
    work.then(over, over);
    this.#work.add(done);
    void done.then(() => {
      timer.stop();
      this.#work.delete(done);
    });
  }

  flush(options: FlushOptions = {}): Promise<boolean> {
    const { timeoutMs = this.#settings.closeTimeoutMs, signal } = options;
    if (this.#flushesInParts) return this.#flushPart({ ...options, timeoutMs });
    return new Promise((resolve) => {
      const stop = (): void => waiter.resolve(false);
      const timer = this.#platform.startTimer(stop, timeoutMs);
      const waiter = {
        left: this.#work.size > 0 ? Number.POSITIVE_INFINITY : this.#queued,
        resolve: (settled: boolean) => {
          this.#waiters.delete(waiter);
          timer.stop();
          signal?.removeEventListener('abort', stop);
          resolve(settled);
        },
      };
      this.#waiters.add(waiter);
      if (this.#work.size > 0)
        void Promise.all(this.#work).then(() => {
          waiter.left = this.#queued;
          this.#resolveWaiters();
        });
      signal?.addEventListener('abort', stop);
      if (waiter.left === 0) waiter.resolve(true);
      if (signal?.aborted) stop();
      // Stop waiting for a fuller batch. A retry delay continues, but now keeps the process alive.
      if (this.#filling) this.#pause.end();
      else this.#pause.keepAlive();
    });
  }

  async close({ timeoutMs = this.#settings.closeTimeoutMs, ...more }: FlushOptions = {}): Promise<boolean> {
    const endsAtMs = this.#platform.now() + timeoutMs;
    if (this.#work.size > 0) {
      const flushed = this.flush({ timeoutMs, ...more });
      this.#pause.end();
      await flushed;
    }
    this.#closed = true;
    const sent = await this.#finish({ timeoutMs: Math.max(0, endsAtMs - this.#platform.now()), ...more });
    this.#closeSpool();
    return sent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Flushes, then drops what is left. */
  async #finish(options?: FlushOptions): Promise<boolean> {
    this.#finishing = true;
    const flushed = this.flush(options);
    // Retry immediately instead of waiting for the backoff: this may be the last chance.
    this.#pause.end();
    if (!(await flushed)) return this.#dropLeft();
    this.#finishing = false;
    return true;
  }

  /** Returns whether nothing was left. */
  #dropLeft(): boolean {
    const left = this.#takeLeft();
    this.#closed = true;
    if (this.#closeSpool()) this.#drop(left, 'spooled', 'sent by the next process that has the spool');
    else this.#drop(left, 'closed', 'no answer');
    for (const { resolve } of this.#waiters) resolve(true);
    return left.length === 0;
  }

  /** Sends everything in the queue with timers and requests of the caller. What was not sent in time returns to the queue. */
  async #flushPart(options: FlushOptions & { readonly timeoutMs: number }): Promise<boolean> {
    for (const part of this.#parts) if (part.#endsAtMs < this.#platform.now()) this.#takeBack(part);
    const part = new QueueingRecorder(this.#options, this, this.#queue.splice(0));
    part.#endsAtMs = this.#platform.now() + options.timeoutMs + 1000;
    this.#parts.add(part);
    const settled = await part.flush(options);
    this.#takeBack(part);
    return settled;
  }

  #takeBack(part: QueueingRecorder): void {
    this.#parts.delete(part);
    this.#queue.unshift(...part.#takeLeft());
  }

  /** Ends the current request and the current delay. Removes and returns everything that waits. */
  #takeLeft(): QueuedQuery[] {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#pause.end();
    const left = [...this.#batch, ...this.#queue];
    this.#batch = [];
    this.#queue = [];
    return left;
  }

  #take(query: QueuedQuery): void {
    this.#queue.push(query);
    this.#withSpool((spool) => spool.append(query));
    this.#start();
    if (this.#filling && this.#queue.length >= this.#batchSize) this.#pause.end();
  }

  #start(): void {
    if (this.#running || this.#queue.length === 0 || this.#flushesInParts) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const finish = (): void => void this.#finish();
    // After `process.exit` and errors that nothing catches, nothing can be sent.
    const tell = (): unknown => this.#dropLeft();
    const listen = (how: 'on' | 'off'): void =>
      callSafely(
        () =>
          this.#platform.isRequestBound ||
          (globalThis as unknown as Global).process[how]('beforeExit', finish)[how]('exit', tell),
      );
    listen('on');
    while (this.#queue.length > 0) {
      if (this.#queue.length < this.#batchSize && this.#waiters.size === 0 && !this.#closed) {
        this.#filling = true;
        await this.#pause.wait(this.#settings.delayMs, false);
        this.#filling = false;
      }
      this.#batch = this.#queue.splice(0, this.#batchSize);
      await this.#deliver();
      this.#withSpool((spool) => spool.settle(this.#queue));
      this.#resolveWaiters();
    }
    listen('off');
    this.#running = false;
  }

  /** Sends the batch until every query in it is recorded, refused or dropped. */
  async #deliver(): Promise<void> {
    let failures = 0;
    while (this.#batch.length > 0) {
      const batch = this.#batch;
      try {
        const { recorded, duplicates } = await this.#send(batch);
        // `#finish` dropped the batch in the meantime and has reported it.
        if (this.#batch !== batch) return;
        this.#counts.recorded += recorded;
        this.#counts.duplicates += duplicates;
        this.#reports.succeeded();
        this.#settle(new Set(batch));
        this.#batchSize = Math.min(2 * this.#batchSize, this.#batchMax);
      } catch (cause) {
        if (this.#batch !== batch) return;
        const error = cause as RequestError;
        this.#counts.failures++;
        this.#reports.failed(error, !this.#finishing);
        if (this.#batch !== batch) return;
        if (!this.#handleRejection(error)) await this.#backOff(error, ++failures);
      }
    }
  }

  /**
   * Handles a permanent rejection: drops the rejected queries, or splits the batch to find them or to make it smaller.
   * Returns false for errors that need a retry.
   */
  #handleRejection(error: RequestError): boolean {
    if (!isRejection(error)) return false;
    const refused = findRefused(this.#batch, error);
    this.#settle(refused);
    if (refused.size === 0) {
      // Halving the batch finds the rejected query.
      this.#halveBatch();
      if (error.status === 413) this.#batchMax = this.#batchSize;
    }
    for (const [query, words] of refused) this.#drop([query], 'refused', words);
    return true;
  }

  /** Puts the second half of the batch back into the queue. */
  #halveBatch(): void {
    this.#batchSize = Math.ceil(this.#batch.length / 2);
    this.#queue = [...this.#batch.splice(this.#batchSize), ...this.#queue];
  }

  /** Waits for the next try, with a smaller batch unless a busy server asked to wait: for it, that would be more work. */
  #backOff(error: RequestError, failures: number): Promise<void> {
    if (error.retryAfterMs === undefined && this.#batch.length > 1) this.#halveBatch();
    const ms = backoffMs(error, failures, this.#platform.random(), this.#settings);
    return this.#pause.wait(ms, this.#waiters.size > 0);
  }

  async #send(batch: readonly QueuedQuery[]): Promise<RecordResult> {
    // Captured before the first await, so that `#finish` can abort this request even before it is sent.
    const abort = this.#abort;
    const body = await compress(JSON.stringify(batch));
    const late = this.#platform.startTimer(
      () => abort.abort(new Error(`no answer in ${this.#settings.timeoutMs} ms`)),
      this.#settings.timeoutMs,
    );
    try {
      const init = {
        method: 'POST',
        headers: {
          authorization: this.#authorization,
          'content-type': 'application/json',
          ...(typeof body !== 'string' && { 'content-encoding': 'gzip' }),
        },
        body,
        signal: abort.signal,
      };
      const answer = (await request(this.#platform, this.#url, init, (headers) =>
        this.#reports.expires(headers.get('caller-stats-key-expires')),
      )) as RecordResult | null;
      if (answer && answer.recorded + answer.duplicates === batch.length) return answer;
      throw new RequestError('The server answered 200, but not for these queries.', { status: 200 });
    } finally {
      late.stop();
      if (abort.signal.aborted && abort === this.#abort) this.#abort = new AbortController();
    }
  }

  /** Removes queries from the batch. */
  #settle(settled: Pick<ReadonlySet<QueuedQuery>, 'has'>): void {
    for (const waiter of this.#waiters) {
      waiter.left -= this.#batch.slice(0, waiter.left).filter((query) => settled.has(query)).length;
    }
    this.#batch = this.#batch.filter((query) => !settled.has(query));
  }

  /** Resolves the `flush` calls whose queries are all settled. */
  #resolveWaiters(): void {
    for (const { left, resolve } of this.#waiters) if (left === 0) resolve(true);
  }

  #drop(queries: readonly QueuedQuery[], code: DropReason['code'], message: string): void {
    this.#counts.dropped += queries.length;
    if (queries.length > 0) this.#reports.dropped(queries, { code, message });
  }

  /** Closes the spool, if there is one, without removing its queries. */
  #closeSpool(): Spool | undefined {
    const closed = this.#spool;
    this.#withSpool((spool) => spool.close());
    this.#spool = undefined;
    return closed;
  }

  /** Uses the spool. A failing spool, such as a full disk, must not stop sending. */
  #withSpool(use: (spool: Spool) => void): void {
    try {
      if (this.#spool) use(this.#spool);
    } catch (error) {
      this.#reports.failed(error as Error);
    }
  }
}

/**
 * The queries of a batch that the server rejected, with its messages. Empty if the error does not name any, unless the
 * batch has only one query.
 */
function findRefused(
  batch: readonly QueuedQuery[],
  { details, message }: RequestError,
): ReadonlyMap<QueuedQuery, string> {
  const refused = new Map<QueuedQuery, string>();
  for (const detail of details) {
    const query = batch[Number(/^queries\[(\d+)\]/.exec(detail)?.[1])];
    if (query) refused.set(query, detail);
  }
  if (batch.length === 1 && refused.size === 0) for (const query of batch) refused.set(query, message);
  return refused;
}
