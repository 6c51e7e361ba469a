/** A run: rounds of faults in a seeded order, on one database after the other. */
import { Draw } from './draw.js';
import { type DatabaseServer, type Fault, type Round, type StoreKind, Tally } from './fault.js';
import { badClients } from './kinds/bad-clients.js';
import { flipByte, truncateFile } from './kinds/damage.js';
import { endWriter } from './kinds/end-writer.js';
import { fewDescriptors } from './kinds/few-descriptors.js';
import { boundFileSize, fillDisk } from './kinds/fill-disk.js';
import { killBackup } from './kinds/kill-backup.js';
import { killCopy } from './kinds/kill-copy.js';
import { killCorrection } from './kinds/kill-correction.js';
import { killImport } from './kinds/kill-import.js';
import { killMigration } from './kinds/kill-migration.js';
import { killDatabase, killNode } from './kinds/kill-postgres.js';
import { killServer } from './kinds/kill-server.js';
import { lockFile } from './kinds/lock-file.js';
import { readOnly } from './kinds/read-only.js';
import { stepClock } from './kinds/step-clock.js';
import { Load } from './load.js';
import { BLOCKS_A_DELIVERY } from './plan.js';
import type { World } from './world.js';

/** Every kind of fault for a store; kills of PostgreSQL require its server. */
export function faultsOf(store: StoreKind, server?: DatabaseServer): readonly Fault[] {
  const all = server === undefined ? FAULTS : [...FAULTS, killDatabase(server)];
  return all.filter(({ stores }) => stores.includes(store));
}

const FAULTS: readonly Fault[] = [
  killNode,
  killServer,
  killImport,
  killBackup,
  killCopy,
  killCorrection,
  killMigration,
  endWriter,
  stepClock,
  lockFile,
  fewDescriptors,
  badClients,
  fillDisk,
  boundFileSize,
  readOnly,
  truncateFile,
  flipByte,
];

/** A recount takes seconds for a million queries, so a new database is made before that. */
const queriesMax = 250_000;

/** The most new queries of a load, as a multiple of `Plan.queries`. */
const queriesOfLoad = 4;

/** Most rounds are kills during recording, because that promise matters most. */
const killsAmongFour = 3;
const usual = new Set(['kill-server', 'kill-database', 'kill-node']);

export interface Plan {
  readonly seed: string;
  readonly store: StoreKind;
  /** The queries recorded before each fault. */
  readonly queries: number;
  /** The kinds of faults to choose from. */
  readonly faults: readonly Fault[];
}

/** The fault of a round: each kind once, then a random mix. */
export function faultOf({ seed, faults }: Pick<Plan, 'seed' | 'faults'>, number: number): Fault {
  const draw = new Draw(seed).of(`fault ${number}`);
  const first = new Draw(seed).of('order').shuffled(faults)[number];
  if (first !== undefined) return first;
  const kills = faults.filter(({ name }) => usual.has(name));
  return kills.length > 0 && draw.below(4) < killsAmongFour ? draw.pick(kills) : draw.pick(faults);
}

/** The result of a run. */
export interface Verdict {
  readonly tally: Tally;
  readonly acknowledged: number;
  readonly requests: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly keyChanges: number;
  readonly problems: readonly string[];
}

export class Campaign {
  readonly #plan: Plan;
  readonly #tally = new Tally();
  readonly #makeWorld: () => Promise<World>;
  readonly #outcomes = new Map<string, number>();
  readonly #problems: string[] = [];
  #acknowledged = 0;
  #requests = 0;
  #keyChanges = 0;
  #world: World | undefined;
  /** The previous load, and the first delivery of the next one if there is none. */
  #last: Load | undefined;
  #from = 0;

  constructor(plan: Plan, makeWorld: () => Promise<World>) {
    this.#plan = plan;
    this.#makeWorld = makeWorld;
  }

  get rounds(): number {
    return this.#tally.rounds;
  }

  /** Runs the next round and returns the problems it found. */
  async round(): Promise<readonly string[]> {
    const number = this.#tally.rounds++;
    const fault = faultOf(this.#plan, number);
    const draw = new Draw(this.#plan.seed).of(`round ${number}`);
    const world = await this.#worldToUse();
    const round: Round = {
      world,
      draw,
      tally: this.#tally,
      queries: this.#plan.queries,
      load: (ending = 'ending') => this.#load(world, ending),
      blocks: (howMany) => this.#blocks(howMany),
    };
    this.#tally.faults.set(fault.name, (this.#tally.faults.get(fault.name) ?? 0) + 1);
    try {
      if (draw.oneIn(3)) await world.keys.change(world, draw);
      await fault.run(round);
    } catch (error) {
      world.problems.push(String((error as Error).stack ?? error));
    }
    const found = world.problems.splice(0).map((problem) => `round ${number}, ${fault.name}: ${problem}`);
    this.#problems.push(...found);
    return found;
  }

  /** Verifies the database, stops everything, and returns the result. */
  async end(): Promise<Verdict> {
    await this.#giveUp();
    return {
      tally: this.#tally,
      acknowledged: this.#acknowledged,
      requests: this.#requests,
      outcomes: this.#outcomes,
      keyChanges: this.#keyChanges,
      problems: this.#problems,
    };
  }

  async #worldToUse(): Promise<World> {
    if (this.#world !== undefined && this.#world.checker.counted > queriesMax) await this.#giveUp();
    if (this.#world === undefined) {
      this.#world = await this.#makeWorld();
      this.#last = undefined;
      this.#from = 0;
    }
    return this.#world;
  }

  #load(world: World, ending: 'ending' | 'endless'): Load {
    const queriesMax = ending === 'endless' ? Number.POSITIVE_INFINITY : this.#plan.queries * queriesOfLoad;
    const from = this.#nextDelivery();
    this.#last = new Load(world, new Draw(this.#plan.seed).of('load'), { from, queriesMax });
    return this.#last;
  }

  #blocks(howMany: number): number[] {
    const first = this.#nextDelivery();
    this.#from = first + Math.ceil(howMany / BLOCKS_A_DELIVERY);
    this.#last = undefined;
    return Array.from({ length: howMany }, (_, at) => first * BLOCKS_A_DELIVERY + at);
  }

  #nextDelivery(): number {
    return this.#last?.next ?? this.#from;
  }

  async #giveUp(): Promise<void> {
    const world = this.#world;
    if (world === undefined) return;
    this.#world = undefined;
    try {
      for (const node of [...world.nodes]) await world.stop(node);
      await world.verify();
    } catch (error) {
      world.problems.push(String((error as Error).stack ?? error));
    }
    this.#problems.push(...world.problems.map((problem) => `at the end of a database: ${problem}`));
    this.#acknowledged += world.acknowledged;
    this.#requests += world.requests;
    this.#keyChanges += world.keys.changes;
    for (const [name, times] of world.outcomes)
      this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + times);
    await world.close();
  }
}
