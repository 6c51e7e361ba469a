/**
 * The simulated program that records: the real recorder, with the real spool or without one, in processes that are killed, end, or
 * lose power, and start again on the same disk.
 */
import type { QueuedQuery } from '../../clients/javascript/src/query.js';
import type { Recorder, RecorderOptions, Spool } from '../../clients/javascript/src/recorder-options.js';
import type { StartProduct } from './bundle.js';
import type { Ledger } from './ledger.js';
import { type Disk, Killed } from './world/disk.js';
import type { Network, Sender } from './world/network.js';
import { Process } from './world/process.js';
import type { World } from './world/world.js';

export interface ClientOptions {
  readonly name: string;
  readonly project: string;
  readonly spool: 'none' | 'plain' | 'fsync';
  /** Whether it runs on a platform whose timers and requests end with a request. */
  readonly isRequestBound: boolean;
  readonly recorder: Required<
    Pick<
      RecorderOptions,
      'batchMax' | 'delayMs' | 'queueMax' | 'timeoutMs' | 'retryBaseMs' | 'retryMaxMs' | 'closeTimeoutMs'
    >
  >;
}

/** One life of the program. */
interface Session {
  readonly process: Process;
  readonly recorder: Recorder;
  readonly hasSpool: boolean;
  /** Ids that were recorded or loaded, and not dropped. */
  readonly taken: Set<string>;
  /** The number of queries from the spool. */
  loaded: number;
  /** Calls of `record`, and queries from the spool. */
  calls: number;
  dropped: number;
  requests: number;
  /** The server asked to wait until then. */
  notBeforeMs: number;
  state: 'running' | 'closing' | 'exiting';
}

/** The ids of processes begin with 1, which is also the id of a process that runs all the time. */
const firstPid = 100;
const spoolFolder = 'spool';
/** The longest timeout of a call of `flush`, which keeps the process running. */
export const flushMsMax = 20_000;
/** Longer than anything of a recorder takes beyond its timeouts. */
const slackMs = 2_000;

export class Client implements Sender {
  isCut = false;
  readonly options: ClientOptions;
  readonly disk: Disk;
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #network: Network;
  readonly #startProduct: StartProduct;
  /** Ids that a power failure may take from the spool. */
  #unsynced = new Set<string>();
  #spoolFailed = false;
  #process: Process | undefined;
  #session: Session | undefined;
  #starts = 0;

  constructor(
    surroundings: {
      readonly world: World;
      readonly ledger: Ledger;
      readonly network: Network;
      readonly startProduct: StartProduct;
    },
    disk: Disk,
    options: ClientOptions,
  ) {
    this.#world = surroundings.world;
    this.#ledger = surroundings.ledger;
    this.#network = surroundings.network;
    this.#startProduct = surroundings.startProduct;
    this.disk = disk;
    this.options = options;
    this.#world.checks.push(() => this.#check());
  }

  get process(): Process {
    if (this.#process === undefined) throw new Error('the client was never started');
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#session?.process.alive === true;
  }

  /** Whether queries may be in the spool that the running process did not load. */
  get hasUnloadedSpool(): boolean {
    return this.options.spool !== 'none' && !(this.isRunning && this.#session?.hasSpool);
  }

  start(): void {
    if (this.isRunning) return;
    const world = this.#world;
    const name = `${this.options.name}-${++this.#starts}`;
    const pid = firstPid + this.#starts;
    world.note(`${name} starts`);
    const process: Process = new Process({
      world,
      name,
      fetch: (url, init) => this.#fetch(url, init),
      modules: {
        'node:fs': this.disk.modulesFor(() => process),
        'node:process': { pid, platform: 'linux', kill: (other: number) => this.#requireRunning(other) },
      },
    });
    this.#process = process;
    const product = this.#startProduct(process.globals);
    const spool = this.#openSpool((path, options) => product.openSpool(path, options));
    if (!process.alive) return;
    const taken = new Set<string>();
    let loaded = 0;
    const note = (queries: readonly QueuedQuery[]): readonly QueuedQuery[] => {
      for (const { id } of queries) taken.add(id);
      loaded += queries.length;
      if (this.#session?.process === process) {
        this.#session.loaded += queries.length;
        this.#session.calls += queries.length;
      }
      return queries;
    };
    if (spool) {
      const load = spool.load.bind(spool);
      spool.load = (projectId, later) => note(load(projectId, (more) => later(() => note(more()))));
    }
    const { recorder: options, project, isRequestBound } = this.options;
    const recorder = product.createRecorder({
      ...options,
      url: 'http://stats.test',
      projectId: project,
      key: 'key',
      ...(spool && { spool }),
      ...(isRequestBound && { platform: { isRequestBound } }),
      onDrop: (queries, { code }) => {
        if (process.alive)
          this.#noteDrop(
            queries.map(({ id }) => id),
            code,
          );
      },
      onError: (error) => {
        // The errors of requests have a status.
        if (!('status' in error)) this.#spoolFailed = true;
      },
    });
    this.#session = {
      process,
      recorder,
      hasSpool: spool !== undefined,
      taken,
      loaded,
      calls: loaded,
      dropped: 0,
      requests: 0,
      notBeforeMs: 0,
      state: 'running',
    };
  }

  record(id: string): void {
    const session = this.#session;
    if (session === undefined || !session.process.alive || session.state === 'exiting') return;
    this.#ledger.noteSent(id);
    this.#spoolFailed = false;
    session.calls++;
    session.taken.add(id);
    session.recorder.record({ id, caller: callerOf(id) });
    if (!session.process.alive || !session.taken.has(id)) return;
    if (!session.hasSpool || this.#spoolFailed || session.state !== 'running') return;
    this.#ledger.promise(id, this.#promiseName);
    if (this.options.spool === 'plain') this.#unsynced.add(id);
  }

  flush(timeoutMs: number): void {
    const session = this.#session;
    if (session === undefined || !session.process.alive || session.state !== 'running') return;
    const before = new Set(session.taken);
    this.#expectInTime('flush', timeoutMs, session.recorder.flush({ timeoutMs }), (flushed) => {
      if (flushed) this.#requireSettled(session, before, 'flush');
    });
  }

  /** Closes the recorder and ends the process. */
  close(timeoutMs: number, then: (closed: boolean) => void = () => {}): void {
    const session = this.#session;
    if (session === undefined || !session.process.alive || session.state !== 'running') return;
    session.state = 'closing';
    this.#expectInTime('close', timeoutMs, session.recorder.close({ timeoutMs }), (closed) => {
      if (closed) this.#requireSettled(session, session.taken, 'close');
      const { queued } = session.recorder.stats;
      if (queued !== 0 && !this.options.isRequestBound)
        this.#world.fail(`${session.process.name} is closed with ${queued} queued`);
      session.process.end();
      then(closed);
    });
  }

  /** Lets the program end as one of Node does that has nothing else to do. */
  exit(): void {
    const session = this.#session;
    if (session === undefined || !session.process.alive || session.state !== 'running') return;
    if (this.options.isRequestBound) return;
    session.state = 'exiting';
    const { closeTimeoutMs, retryMaxMs, timeoutMs } = this.options.recorder;
    this.#world.after(
      // It goes on while requests succeed, one after the other. A pause that began during a flush is waited for.
      flushMsMax + retryMaxMs + closeTimeoutMs + (session.recorder.stats.queued + 2) * timeoutMs + slackMs,
      () => this.#world.fail(`${session.process.name} does not exit`),
      session.process,
    );
  }

  kill(): void {
    if (!this.isRunning) return;
    this.#world.note(`${this.process.name} is killed`);
    this.process.end();
  }

  losePower(): void {
    this.#world.note(`${this.options.name} loses power`);
    this.#process?.end();
    this.disk.losePower();
    for (const id of this.#unsynced) this.#ledger.release(id, this.#promiseName);
    this.#unsynced = new Set();
  }

  get #promiseName(): string {
    return `the spool of ${this.options.name}`;
  }

  #openSpool(open: (path: string, options: { readonly fsync: boolean }) => Spool): Spool | undefined {
    const { spool } = this.options;
    if (spool === 'none') return undefined;
    try {
      return open(spoolFolder, { fsync: spool === 'fsync' });
    } catch (error) {
      const { message } = error as Error;
      this.#world.note(`${this.process.name} has no spool: ${message}`);
      if (!(error instanceof Killed) && !/simulated failure/.test(message))
        this.#world.fail(`${this.process.name} cannot open its spool: ${message}`);
      return undefined;
    }
  }

  /** `process.kill` with the signal 0. Besides the last process, the first of the machine is running. */
  #requireRunning(pid: number): true {
    if (pid === firstPid + this.#starts && this.process.alive) return true;
    throw Object.assign(new Error('kill'), { code: pid === 1 ? 'EPERM' : 'ESRCH' });
  }

  #fetch(url: string, init: RequestInit): Promise<Response> {
    const session = this.#session;
    if (session === undefined || !session.process.alive) return new Promise(() => {});
    const { isRequestBound } = this.options;
    if (this.#world.nowMs < session.notBeforeMs && session.state === 'running' && !isRequestBound)
      this.#world.fail(`${session.process.name} does not wait as long as the server asked for`);
    if (++session.requests > 1 && !isRequestBound)
      this.#world.fail(`${session.process.name} sends two requests at once`);
    const over = (): void => {
      session.requests--;
    };
    return this.#network.fetch(this, url, init).then(
      (response) => {
        const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
        const text = async () => {
          const whole = await response.text().finally(over);
          if (!response.ok && !Number.isNaN(wait)) session.notBeforeMs = this.#world.nowMs + wait * 1000;
          return whole;
        };
        return { ...response, text };
      },
      (error: unknown) => {
        over();
        throw error;
      },
    );
  }

  #noteDrop(ids: readonly string[], code: string): void {
    const session = this.#session;
    if (session === undefined) return;
    session.dropped += ids.length;
    this.#world.note(`${session.process.name} drops ${ids}: ${code}`);
    for (const id of ids) {
      session.taken.delete(id);
      if (code === 'refused') this.#ledger.release(id, this.#promiseName);
      if (code === 'closed' && session.hasSpool && session.state === 'running')
        this.#world.fail(`${session.process.name} drops ${id} although it has a spool`);
    }
  }

  /** What a call of the recorder said is settled must be on the disk of the server. */
  #requireSettled({ process, taken }: Session, ids: ReadonlySet<string>, call: string): void {
    // There, a call does not wait for what another call is sending.
    if (this.options.isRequestBound) return;
    this.#ledger.acknowledge(
      [...ids].filter((id) => taken.has(id)),
      `${call} of ${process.name}`,
    );
  }

  #expectInTime(
    call: string,
    timeoutMs: number,
    result: Promise<boolean>,
    then: (result: boolean) => void,
  ): void {
    const { process } = this;
    const fail = (): void => this.#world.fail(`${call} of ${process.name} does not resolve`);
    const late = this.#world.after(timeoutMs + slackMs, fail, process);
    void result.then((value) => {
      if (!process.alive) return;
      this.#world.note(`${call} of ${process.name}: ${value}`);
      late.cancel();
      then(value);
    });
  }

  #check(): void {
    const session = this.#session;
    if (session === undefined || !session.process.alive) return;
    const { recorder, process } = session;
    const { queued, recorded, duplicates, dropped } = recorder.stats;
    // The spool may have had more, and finds more later.
    if (queued > this.options.recorder.queueMax + session.loaded)
      this.#world.fail(`${process.name} has ${queued} queries in its queue`);
    if (queued + recorded + duplicates + dropped !== session.calls || dropped !== session.dropped)
      this.#world.fail(`the numbers of ${process.name} do not add up: ${JSON.stringify(recorder.stats)}`);
    if (session.state !== 'exiting' || !process.isIdle) return;
    process.emitBeforeExit();
    if (!process.isIdle) return;
    if (recorder.stats.queued !== 0)
      this.#world.fail(`${process.name} exits with ${queued} queries in its queue`);
    this.#world.note(`${process.name} exits`);
    process.end();
  }
}

/** Each query has one, so that repeats are the same. */
function callerOf(id: string): string {
  return ['web', 'slak', 'slack'][Number(/\d+$/.exec(id)?.[0] ?? 0) % 3] ?? 'web';
}
