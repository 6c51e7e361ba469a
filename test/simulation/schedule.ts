/**
 * Generates a schedule from a seed and runs it: some clients, one server and its database, and what happens to them. Each schedule
 * has only some kinds of faults, so that common ones do not hide what rare ones cause. In the end all faults stop, every process
 * runs, everything that is queued is sent, and the ledger is checked.
 */
import { secondMs } from '../../src/domain/time/duration.js';
import type { StartProduct } from './bundle.js';
import { Client, type ClientOptions, flushMsMax } from './client.js';
import { CorrectedRows } from './corrections.js';
import { Ledger } from './ledger.js';
import { Server, type StoreKind } from './server.js';
import { Disk, type DiskFaults, noDiskFaults } from './world/disk.js';
import { Network, type NetworkFaults } from './world/network.js';
import { Process } from './world/process.js';
import { Database, goneProject, type StoreFaults } from './world/store.js';
import { World } from './world/world.js';

export interface Run {
  readonly seed: number;
  /** Undefined if everything was right. */
  readonly problem: string | undefined;
  readonly events: number;
  /** How many queries were promised or acknowledged. */
  readonly promises: number;
  /** What happened, if it was asked for. */
  readonly trace: readonly string[];
}

/** Longer than everything that may still be on its way takes. */
const restMs = 30 * secondMs;
/** The final attempt to send everything. */
const lastCloseMs = 600 * secondMs;

const noNetworkFaults: NetworkFaults = {
  lost: 0,
  reset: 0,
  unanswered: 0,
  repeated: 0,
  refused: 0,
  foreign: 0,
  stalled: 0,
  unread: 0,
  slownessMs: 5,
};
const noStoreFaults: StoreFaults = { fails: 0, unanswered: 0, stalls: 0, slownessMs: 5 };

export async function runSchedule(
  startProduct: StartProduct,
  seed: number,
  { traced = false } = {},
): Promise<Run> {
  const world = new World(seed, { traced });
  const { stackTraceLimit } = Error;
  // Collecting the stacks of expected errors takes as long as everything else.
  if (!traced) Error.stackTraceLimit = 0;
  try {
    await new Schedule(world, startProduct).run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  const [problem] = world.problems;
  return { seed, problem, events: world.events, promises: world.promises, trace: world.trace ?? [] };
}

class Schedule {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #database: Database;
  readonly #server: Server;
  readonly #network: Network;
  readonly #clients: readonly Client[];
  readonly #kind: StoreKind;
  readonly #ids: string[] = [];
  /** The corrections that were sent, and whether each is done or refused. */
  readonly #corrections = new Map<Readonly<Record<string, unknown>>, boolean>();

  constructor(world: World, startProduct: StartProduct) {
    const { random } = world;
    this.#world = world;
    this.#ledger = new Ledger(world);
    this.#kind = random.pick(['sqlite', 'postgres']);
    const rows = this.#kind === 'sqlite' && random.oneIn(2) ? new CorrectedRows() : undefined;
    this.#database = new Database(world, this.#ledger, this.#storeFaults(), rows);
    this.#server = new Server(world, this.#ledger, this.#database, startProduct, {
      kind: this.#kind,
      recordingsMax: 1 + random.int(5),
      recordingBytesMax: random.pick([1_500, 3_000, 100_000]),
      requestTimeoutMs: random.pick([500, 3_000]),
      answerTimeoutMs: random.pick([1_000, 4_000, 10_000]),
      databaseTimeoutMs: random.pick([500, 3_000]),
    });
    this.#network = new Network(world, this.#server, this.#networkFaults());
    const parts = { world, ledger: this.#ledger, network: this.#network, startProduct };
    this.#clients = random
      .times(1 + random.int(4), () => random.int(1_000))
      .map((number, at) => {
        const disk = new Disk(world, this.#diskFaults());
        return new Client(parts, disk, this.#clientOptions(`client${at}`, number));
      });
  }

  async run(): Promise<void> {
    const world = this.#world;
    const durationMs = (3 + world.random.int(40)) * secondMs;
    this.#server.start();
    for (const client of this.#clients) client.start();
    this.#planClients(durationMs);
    this.#planServer(durationMs);
    this.#planReads(durationMs);
    this.#planCorrections(durationMs);
    await world.run(world.nowMs + durationMs);
    if (world.problems.length === 0) await this.#recover();
    world.promises = this.#ledger.promises;
  }

  #rate(max: number): number {
    return this.#world.chance(0.4) ? this.#world.uptoMs(max) : 0;
  }

  #networkFaults(): NetworkFaults {
    return {
      lost: this.#rate(0.2),
      reset: this.#rate(0.2),
      unanswered: this.#rate(0.3),
      repeated: this.#rate(0.3),
      refused: this.#rate(0.3),
      foreign: this.#rate(0.2),
      stalled: this.#rate(0.2),
      unread: this.#rate(0.2),
      slownessMs: this.#world.random.pick([1, 10, 100, 1_500]),
    };
  }

  #diskFaults(): DiskFaults {
    return {
      write: this.#rate(0.1),
      sync: this.#rate(0.1),
      name: this.#rate(0.2),
      folder: this.#rate(0.2),
      kill: this.#rate(0.03),
      slownessMs: this.#world.random.pick([0, 1, 30]),
    };
  }

  #storeFaults(): StoreFaults {
    return {
      fails: this.#rate(0.2),
      unanswered: this.#rate(0.2),
      stalls: this.#rate(0.1),
      slownessMs: this.#world.random.pick([1, 10, 200]),
    };
  }

  #clientOptions(name: string, number: number): ClientOptions {
    const { random } = this.#world;
    const isRequestBound = number < 100;
    const isGone = !isRequestBound && number < 150;
    return {
      name,
      project: isGone ? goneProject : 'docs',
      spool: isRequestBound || isGone ? 'none' : random.pick(['none', 'plain', 'fsync', 'fsync']),
      isRequestBound,
      recorder: {
        batchMax: 1 + random.int(10),
        delayMs: random.pick([0, 20, 1_000]),
        queueMax: random.pick([3, 20, 1_000]),
        timeoutMs: random.pick([300, 2_000, 10_000]),
        retryBaseMs: random.pick([10, 500]),
        retryMaxMs: random.pick([500, 5_000]),
        closeTimeoutMs: random.pick([0, 500, 5_000]),
      },
    };
  }

  #at(durationMs: number, run: () => void): void {
    this.#world.after(this.#world.uptoMs(durationMs), run);
  }

  #planClients(durationMs: number): void {
    const { random } = this.#world;
    for (const client of this.#clients) {
      const actions = 2 + random.int(20);
      for (let action = 0; action < actions; action++) this.#at(durationMs, () => this.#act(client));
      for (let cuts = random.int(3); cuts > 1; cuts--) {
        this.#during(durationMs, (isCut) => {
          client.isCut = isCut;
        });
        this.#during(durationMs, (isFull) => {
          client.disk.isFull = isFull;
        });
      }
    }
  }

  #act(client: Client): void {
    const { random } = this.#world;
    const restart = (): void =>
      void this.#world.after(this.#world.uptoMs(3 * secondMs), () => client.start());
    const actions = {
      record: () => {
        for (let count = 1 + random.int(6); count > 0; count--) client.record(this.#nextId());
      },
      flush: () => client.flush(random.pick([0, 1_000, flushMsMax])),
      close: () => client.close(client.options.recorder.closeTimeoutMs, restart),
      exit: () => client.exit(),
      kill: () => client.kill(),
      losePower: () => client.losePower(),
    };
    if (!client.isRunning) restart();
    const weights = { record: 20, flush: 3, close: 1, exit: 1, kill: 1, losePower: 1 };
    actions[random.weighted(weights)]();
  }

  /** Mostly a new one, sometimes one that was recorded before, by any client. */
  #nextId(): string {
    const { random } = this.#world;
    if (this.#ids.length > 0 && random.oneIn(10)) return random.pick(this.#ids);
    const id = `query-${this.#ids.length}`;
    this.#ids.push(id);
    return id;
  }

  /** Calls `set` with true at some time, and with false later. */
  #during(durationMs: number, set: (is: boolean) => void): void {
    this.#at(durationMs, () => {
      set(true);
      this.#world.after(this.#world.uptoMs(10 * secondMs), () => set(false));
    });
  }

  #planServer(durationMs: number): void {
    const { random } = this.#world;
    const server = this.#server;
    const restart = (): void =>
      void this.#world.after(this.#world.uptoMs(3 * secondMs), () => server.start());
    const events: readonly (() => void)[] = [
      () => {
        server.crash();
        restart();
      },
      () => void server.stop().then(restart),
      () => server.beBusy(this.#world.uptoMs(1_500)),
      () => server.beBusy(this.#world.uptoMs(200)),
      () => {
        if (this.#kind === 'postgres') this.#database.crash();
      },
    ];
    for (let count = random.int(8); count > 0; count--) this.#at(durationMs, random.pick(events));
    if (random.oneIn(4)) {
      this.#during(durationMs, (isFull) => {
        this.#database.isFull = isFull;
      });
    }
  }

  /** Reads beside the recordings. */
  #planReads(durationMs: number): void {
    const world = this.#world;
    const browser = new Process({
      world,
      name: 'browser',
      fetch: () => Promise.reject(new Error('not used')),
      modules: {},
    });
    const sender = { process: browser, isCut: false };
    for (let count = world.random.int(12); count > 0; count--) {
      this.#at(durationMs, () => {
        void this.#network
          .fetch(sender, 'http://stats.test/v1/analytics/docs/assistant/export', { method: 'GET' })
          .catch(() => {});
      });
    }
  }

  /** Corrections beside the recordings, some of them sent twice. */
  #planCorrections(durationMs: number): void {
    const { random } = this.#world;
    if (this.#database.rows === undefined) return;
    for (let count = 1 + random.int(8); count > 0; count--) {
      this.#at(durationMs, () => {
        const request = this.#nextCorrection();
        if (request === undefined) return;
        this.#correct(request);
        if (random.oneIn(2))
          this.#world.after(this.#world.uptoMs(3 * secondMs), () => this.#correct(request));
      });
    }
  }

  #nextCorrection(): Readonly<Record<string, unknown>> | undefined {
    const { random, nowMs } = this.#world;
    const sent = [...this.#corrections.keys()].filter(({ action }) => action !== 'undo');
    const id = `correction-${this.#corrections.size}`;
    if (sent.length > 0 && random.oneIn(3))
      return { id, action: 'undo', correction: random.pick(sent)['id'] };
    if (this.#ids.length === 0) return undefined;
    const selection = random.oneIn(2)
      ? { ids: [...new Set(random.times(1 + random.int(4), () => random.pick(this.#ids)))] }
      : {
          ...(random.oneIn(2) ? { caller: random.pick(['web', 'slak']) } : {}),
          dateTo: new Date(Math.floor(nowMs - random.int(10) * secondMs)).toISOString(),
        };
    const action = random.oneIn(2) ? { action: 'withdraw' } : { action: 'rename', to: 'bot' };
    return { id, ...action, ...selection };
  }

  #correct(request: Readonly<Record<string, unknown>>): void {
    if (!this.#corrections.has(request)) this.#corrections.set(request, false);
    this.#server.correct(request).then(
      (isOver) => {
        if (isOver) this.#corrections.set(request, true);
      },
      (error: Error) => this.#world.fail(`a correction fails: ${error.stack}`),
    );
  }

  /** Each is repeated, in their order, until it is done. Then the rows must be as they say. */
  async #finishCorrections(): Promise<void> {
    const world = this.#world;
    const { rows } = this.#database;
    if (rows === undefined) return;
    for (const request of this.#corrections.keys()) {
      this.#corrections.set(request, false);
      this.#correct(request);
      if (!(await world.run(world.nowMs + restMs, () => this.#corrections.get(request) === true)))
        world.fail(`${request['id']} does not end`);
    }
    const problem = rows.problem();
    if (problem !== undefined) world.fail(`${problem}: ${JSON.stringify([...this.#corrections.keys()])}`);
  }

  /** All faults end, and everything that is left is sent. */
  async #recover(): Promise<void> {
    const world = this.#world;
    world.note('all faults end');
    this.#network.faults = noNetworkFaults;
    this.#database.faults = noStoreFaults;
    this.#database.isFull = false;
    for (const client of this.#clients) {
      client.isCut = false;
      client.disk.isFull = false;
      client.disk.faults = noDiskFaults;
    }
    await world.run(world.nowMs + restMs);
    this.#server.start();
    await this.#closeClients(this.#clients.filter((client) => client.isRunning));
    for (const client of this.#clients) if (client.hasUnloadedSpool) client.start();
    // Files whose lock a power failure has damaged are adopted after a minute.
    await world.run(world.nowMs + 3 * restMs);
    await this.#closeClients(this.#clients.filter((client) => client.isRunning));
    await world.run(world.nowMs + restMs);
    await this.#finishCorrections();
    await world.run(world.nowMs + restMs);
    this.#server.requireRest();
    let stopped = false;
    void this.#server.stop().then(() => {
      stopped = true;
    });
    if (!(await world.run(world.nowMs + restMs, () => stopped))) world.fail('the server does not stop');
    // Until then, the server may look whether there is more to correct.
    this.#database.rows?.db.close();
    if (world.problems.length === 0) this.#ledger.requireAll();
  }

  async #closeClients(clients: readonly Client[]): Promise<void> {
    const world = this.#world;
    let open = clients.length;
    for (const client of clients) {
      const { name, project } = client.options;
      client.close(project === goneProject ? 0 : lastCloseMs, (closed) => {
        open--;
        if (!closed && project !== goneProject) world.fail(`${name} cannot send what is left`);
      });
    }
    if (!(await world.run(world.nowMs + 2 * lastCloseMs, () => open === 0)))
      world.fail('a client does not close');
  }
}
