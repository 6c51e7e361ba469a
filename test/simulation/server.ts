/**
 * The simulated server: the real admission control, deadlines, commit queue and retries, put together as the program does for each
 * kind of store. It crashes, stops as after SIGTERM, is busy, and starts again.
 */
import type { FastifyRequest } from 'fastify';
import type { Correction } from '../../src/domain/corrections/correction.js';
import type { Query } from '../../src/domain/queries/query.js';
import type { CorrectionChanges } from '../../src/storage/ports/corrections.js';
import type { RecordResult } from '../../src/storage/ports/counts.js';
import type { RecordCall } from '../../src/storage/postgres/recorder.js';
import type { ArgsOf, ResultsOf, Session } from '../../src/storage/sql/session.js';
import type { Product, StartProduct } from './bundle.js';
import type { CorrectedRows, CorrectionOperation } from './corrections.js';
import type { Ledger } from './ledger.js';
import { type Exchange, Framework } from './world/framework.js';
import type { Answer, Arrival, Receiver } from './world/network.js';
import { Process } from './world/process.js';
import { type Change, type Database, isPassing, type Operation } from './world/store.js';
import type { World } from './world/world.js';

export type StoreKind = 'sqlite' | 'postgres';

export interface ServerOptions {
  readonly kind: StoreKind;
  readonly recordingsMax: number;
  readonly recordingBytesMax: number;
  readonly requestTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly databaseTimeoutMs: number;
}

const requestsMax = 2;
const unreadBytesMax = 1_000_000;
const eventLoopDelayMsMax = 100;
const attemptsMax = 4;
/** How long a delay of the event loop is reported. */
const delayShownMs = 500;
/** A stop takes less, however slow the database is. */
const stopMsMax = 60_000;
const RECORDING = '/v1/analytics/:projectId/assistant/queries';

/** What the server needs of its store. */
interface Store {
  readonly pending: { readonly pendingOperations: number; readonly pendingQueries: number };
  record(operation: Operation): Promise<RecordResult>;
  /** Undefined if nothing is corrected. */
  readonly corrections?: Product['SqlCorrections']['prototype'] | undefined;
  close(): Promise<void>;
}

/** One process of the server. */
interface Instance {
  readonly process: Process;
  readonly product: Product;
  readonly framework: Framework;
  readonly admission: Product['Admission']['prototype'];
  readonly store: Store;
  /** Ends its jobs. */
  readonly stopping: AbortController;
  /** Whether the store takes no more operations. */
  isClosed: boolean;
}

export class Server implements Receiver {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #database: Database;
  readonly #startProduct: StartProduct;
  readonly #options: ServerOptions;
  readonly #refused = new Set<string>();
  #instance: Instance | undefined;
  #starts = 0;
  #delay = { ms: 0, untilMs: 0 };

  constructor(
    world: World,
    ledger: Ledger,
    database: Database,
    startProduct: StartProduct,
    options: ServerOptions,
  ) {
    this.#world = world;
    this.#ledger = ledger;
    this.#database = database;
    this.#startProduct = startProduct;
    this.#options = options;
    world.checks.push(() => this.#check());
  }

  get isRunning(): boolean {
    return this.#instance !== undefined;
  }

  start(): void {
    if (this.#instance !== undefined) return;
    const world = this.#world;
    const name = `server-${++this.#starts}`;
    world.note(`${name} starts`);
    const process = new Process({
      world,
      name,
      fetch: () => Promise.reject(new Error('the server sends nothing')),
      modules: {},
    });
    const product = this.#startProduct(process.globals);
    const store =
      this.#options.kind === 'sqlite'
        ? this.#sqliteStore(product, process)
        : this.#postgresStore(product, process);
    const framework: Framework = new Framework({
      world,
      process,
      product,
      requestTimeoutMs: this.#options.requestTimeoutMs,
      routeOf: (path) => (path.endsWith('/assistant/queries') ? RECORDING : path),
      handle: (exchange, body) => this.#handle(instance, exchange, body),
      onError: (exchange, error) => this.#noteError(product, exchange, error),
      onAnswer: (exchange, answer) => this.#noteAnswer(exchange, answer),
    });
    product.limitConnections(framework.app, { ...this.#options, connectionsMax: 100 });
    const { recordingsMax, recordingBytesMax } = this.#options;
    const limits = {
      ...{ recordingsMax, recordingBytesMax, requestsMax, unreadBytesMax, eventLoopDelayMsMax },
      correctionsBytesMax: recordingBytesMax,
    };
    const admission = new product.Admission(limits, { now: () => world.nowMs }, () => this.#delayMs());
    admission.watch(framework.app);
    const stopping = new AbortController();
    const instance: Instance = { process, product, framework, admission, store, stopping, isClosed: false };
    this.#instance = instance;
    if (store.corrections === undefined) return;
    const log = { info: () => {}, warn: () => {} };
    const target = this.#targetOf(store.corrections);
    void product.runCorrections(target, { signal: stopping.signal, log });
  }

  /** The process, and its machine if the store is SQLite, ends at once. */
  crash(): void {
    const instance = this.#instance;
    if (instance === undefined) return;
    this.#world.note(`${instance.process.name} crashes`);
    this.#end(instance);
    if (this.#options.kind === 'sqlite') this.#database.crash();
  }

  /** As after SIGTERM: what was accepted is answered. */
  async stop(): Promise<void> {
    const instance = this.#instance;
    if (instance === undefined) return;
    const { process, framework, store } = instance;
    this.#world.note(`${process.name} stops`);
    const late = this.#world.after(
      stopMsMax,
      () => this.#world.fail(`${process.name} does not stop`),
      process,
    );
    instance.stopping.abort();
    await framework.close();
    instance.isClosed = true;
    await store.close();
    late.cancel();
    if (!process.alive) return;
    this.#world.note(`${process.name} has stopped`);
    if (Object.values(store.pending).some((count) => count !== 0))
      this.#world.fail(`${process.name} has stopped with work left`);
    this.#end(instance);
  }

  /**
   * Corrects what was recorded, as a request does. Resolves with whether the correction is done or refused for good; false if
   * its sender must repeat it.
   */
  async correct(fields: Readonly<Record<string, unknown>>): Promise<boolean> {
    const instance = this.#instance;
    if (instance?.store.corrections === undefined || instance.isClosed) return false;
    const { process, product } = instance;
    const request = product.parseCorrection({ reason: 'a simulation', ...fields });
    if (!request.ok) throw new Error(request.problems.join());
    const { id } = request.value;
    const by = { name: 'corrector', address: null, at: Math.floor(this.#world.nowMs) };
    const target = this.#targetOf(instance.store.corrections);
    let done: Correction;
    try {
      done = await whileAlive(process, () => product.correct(target, 'docs', request.value, by));
    } catch (error) {
      if (!(error instanceof product.CallerStatsError)) throw error;
      this.#world.note(`${id} fails: ${error.message}`);
      return error.code === 'invalid';
    }
    this.#world.note(`${id} is ${done.finishedAt === null ? 'accepted' : 'done'}`);
    if (this.#database.rows?.has(id) !== true)
      this.#world.fail(`the server acknowledges ${id}, which is not on disk`);
    return done.finishedAt !== null;
  }

  #targetOf(corrections: Product['SqlCorrections']['prototype']) {
    return { store: { corrections }, clock: { now: () => Math.floor(this.#world.nowMs) } };
  }

  /** Computes for so long. */
  beBusy(ms: number): void {
    this.#instance?.process.block(ms);
    this.#delay = { ms, untilMs: this.#world.nowMs + ms + delayShownMs };
  }

  receive(arrival: Arrival): boolean {
    const instance = this.#instance;
    if (instance === undefined) return false;
    this.#world.after(
      0,
      () => {
        if (!instance.framework.receive(arrival)) arrival.connection.goAway();
      },
      instance.process,
    );
    instance.process.atEnd(() => arrival.connection.goAway());
    return true;
  }

  /** Once no request is in progress, nothing may be left of any. */
  requireRest(): void {
    for (const request of this.#refused) {
      if (this.#database.executed.has(request)) this.#world.fail(`${request} is refused and recorded`);
    }
    const instance = this.#instance;
    if (instance === undefined) return;
    const { recordings, recordingBytes, requests } = instance.admission.load;
    const { pendingOperations, pendingQueries } = instance.store.pending;
    const left = { recordings, recordingBytes, requests, pendingOperations, pendingQueries };
    if (Object.values(left).some((count) => count !== 0))
      this.#world.fail(`at rest the server has ${JSON.stringify(left)}`);
  }

  get isIdle(): boolean {
    return this.#instance?.framework.exchanges.size === 0;
  }

  #end(instance: Instance): void {
    this.#instance = undefined;
    instance.process.end();
  }

  #delayMs(): number {
    return this.#world.nowMs < this.#delay.untilMs ? this.#delay.ms : 0;
  }

  #sqliteStore(product: Product, process: Process): Store {
    const backlog = new product.Backlog();
    const queue = new product.CommitQueue<Change, unknown>({
      commit: (operations) => whileAlive(process, () => this.#database.commit(product, operations)),
      weigh: (change) => ('request' in change ? change.ids.length : 1),
      backlog,
    });
    const { rows } = this.#database;
    return {
      corrections: rows && correctionsOf(product, rows.db, (operation) => queue.submit(operation)),
      get pending() {
        return backlog.pending;
      },
      record: (operation) => queue.submit(operation) as Promise<RecordResult>,
      close: () => queue.close(),
    };
  }

  #postgresStore(product: Product, process: Process): Store {
    const sent = new Set<string>();
    const timeoutMs = this.#options.databaseTimeoutMs;
    const unavailable = () => new product.CallerStatsError('unavailable', 'The database cannot be used now.');
    const toStoreError = (error: Error): never => {
      throw isPassing(error) ? unavailable() : error;
    };
    const call = (one: RecordCall) =>
      product.withDeadline(timeoutMs, unavailable, (signal) =>
        product
          .retry(
            this.#attempts(process, signal, () => this.#database.call(product, one, sent)),
            {
              attemptsMax,
              isRetryable: isPassing,
              delayMs: (attempt) => 25 * 2 ** attempt,
              signal,
            },
          )
          .catch(toStoreError),
      );
    const recorder = new product.Recorder(call);
    const accesses = new product.SharedCalls<true>();
    return {
      get pending() {
        return recorder.pending;
      },
      record: async ({ project, ids, queries }) => {
        await accesses.ask(project, async () => {
          await this.#world.delay(this.#world.uptoMs(3));
          return true;
        });
        for (const id of ids) sent.add(id);
        const recorded = product.withDeadline(timeoutMs, unavailable, (signal) =>
          recorder.record(project, { queries, signal }),
        );
        return this.#inTime(process, recorded);
      },
      close: () => recorder.close(),
    };
  }

  /** One call of the database with retries: so many attempts, and none after the deadline. */
  #attempts<T>(process: Process, signal: AbortSignal, work: () => Promise<T>): () => Promise<T> {
    const isLate = this.#lateness(process);
    let attempts = 0;
    return () => {
      attempts++;
      if (attempts > attemptsMax) this.#world.fail('a call has too many attempts');
      if (signal.aborted || isLate()) this.#world.fail('an attempt begins after its deadline');
      return whileAlive(process, work);
    };
  }

  /**
   * Returns a function that tells whether a deadline of the database that begins now has passed. A busy process is late, also one
   * that has just become busy.
   */
  #lateness(process: Process): () => boolean {
    const { nowMs } = this.#world;
    const { busyMs } = process;
    const timeoutMs = this.#options.databaseTimeoutMs;
    return () => {
      const endMs = nowMs + timeoutMs + process.busyMs - busyMs;
      return this.#world.nowMs > Math.max(endMs, process.busyUntilMs) + 1;
    };
  }

  /** Waits for a call of the store, which has a deadline. */
  async #inTime<T>(process: Process, call: Promise<T>): Promise<T> {
    const isLate = this.#lateness(process);
    try {
      return await call;
    } finally {
      if (process.alive && isLate()) this.#world.fail('a call of the store has not ended by its deadline');
    }
  }

  async #handle(instance: Instance, exchange: Exchange, body: string): Promise<unknown> {
    const { admission, product, store } = instance;
    const { id, method, path } = exchange.arrival;
    if (method === 'GET') return { total: this.#ledger.counted };
    await admission.turn(body.length);
    const queries: Query[] = [];
    for (const item of JSON.parse(body) as unknown[]) {
      const query = product.parseQuery(item, this.#world.nowMs);
      if (!query.ok)
        throw new product.CallerStatsError('invalid', 'Nothing was recorded.', { details: query.problems });
      queries.push(query.value);
    }
    if (instance.isClosed) this.#refused.add(id);
    const [, , , project = ''] = path.split('/');
    return store.record({ request: id, project, ids: queries.map((query) => query.id), queries });
  }

  #noteError(product: Product, { arrival, request }: Exchange, error: unknown): void {
    this.#world.note(`${(request as FastifyRequest).id} fails: ${(error as Error).message}`);
    const isRefusal =
      error instanceof product.LoadSheddingError ||
      (error instanceof product.CallerStatsError && error.code === 'busy');
    if (isRefusal) this.#refused.add(arrival.id);
  }

  #noteAnswer({ arrival }: Exchange, { status, text }: Answer): void {
    if (status !== 200 || arrival.method === 'GET') return;
    const ids = (JSON.parse(arrival.body) as { readonly id: string }[]).map(({ id }) => id);
    this.#ledger.acknowledge(ids, `the server in its answer to ${arrival.id}`);
    const answer = JSON.parse(text) as RecordResult;
    if (answer.recorded + answer.duplicates !== ids.length)
      this.#world.fail(`${arrival.id} gets wrong counts`);
    const executed = this.#database.executed.get(arrival.id);
    if (executed !== undefined && executed.recorded !== answer.recorded)
      this.#world.fail(`${arrival.id} gets the counts of another request`);
  }

  #check(): void {
    if (this.#instance === undefined) return;
    const { admission, store, framework, process, product } = this.#instance;
    const { recordings, recordingBytes, requests } = admission.load;
    const { pendingOperations, pendingQueries } = store.pending;
    const { recordingsMax, recordingBytesMax } = this.#options;
    const isWithin =
      within(recordings, recordingsMax) &&
      within(recordingBytes, recordingBytesMax + 4096) &&
      within(requests, requestsMax) &&
      within(pendingOperations, product.pendingOperationsMax) &&
      within(pendingQueries, product.pendingQueriesMax);
    if (!isWithin)
      this.#world.fail(
        `a limit is exceeded: ${JSON.stringify({ recordings, recordingBytes, requests, pendingOperations, pendingQueries })}`,
      );
    const { requestTimeoutMs, answerTimeoutMs } = this.#options;
    for (const { arrival, startMs, busyMsBefore, response } of framework.exchanges) {
      // Deadlines are precise to a quarter, and a busy server is late.
      const lateMs =
        startMs + requestTimeoutMs + 1.5 * answerTimeoutMs + 1000 + 2 * (process.busyMs - busyMsBefore);
      if (!response.headersSent && this.#world.nowMs > lateMs)
        this.#world.fail(`${arrival.id} has no response in time`);
    }
  }
}

const within = (value: number, max: number): boolean => value >= 0 && value <= max;

/** A process that has ended does nothing, and gets no answers. */
function whileAlive<T>(process: Process, work: () => Promise<T>): Promise<T> {
  if (!process.alive) return new Promise(() => {});
  return new Promise((resolve, reject) => {
    work().then(
      (value) => process.alive && resolve(value),
      (error: unknown) => process.alive && reject(error),
    );
  });
}

/** The corrections of a store of SQLite, whose changes `submit` commits. */
function correctionsOf(
  product: Product,
  db: CorrectedRows['db'],
  submit: (operation: CorrectionOperation) => Promise<unknown>,
) {
  const statements = new product.Statements(db);
  const reads: Session = {
    all: (sql, values) => statements.all(sql, values),
    run: () => {
      throw new Error('a read changes nothing');
    },
  };
  return new product.SqlCorrections(
    reads,
    product.SQLITE,
    new product.SqliteQueryRows(reads),
    <Name extends keyof CorrectionChanges>(method: Name, args: ArgsOf<CorrectionChanges>[Name]) =>
      submit({ kind: 'corrections', method, args }) as Promise<ResultsOf<CorrectionChanges>[Name]>,
  );
}
