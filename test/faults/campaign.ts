/** A run: rounds of faults in a seeded order, on one database after the other, until there has been enough. */
import { Draw } from './draw.js';
import { type Fault, type Round, type StoreKind, Tally } from './fault.js';
import { killServer } from './kinds/kill-server.js';
import { Load } from './load.js';
import type { World } from './world.js';

/** Every kind of fault there is. */
export const FAULTS: readonly Fault[] = [killServer];

/** A recount takes seconds for a million queries, so a database is given up before it has as many. */
const queriesMax = 250_000;

/** Of the rounds, most are kills while recording: that is the promise that matters most. */
const killsAmongFour = 3;

export interface Plan {
  readonly seed: string;
  readonly store: StoreKind;
  /** Queries of the load before each fault. */
  readonly queries: number;
  /** Kinds to choose from. */
  readonly faults: readonly Fault[];
}

/** The fault of the round of this number: first each kind once, then in a mix. */
export function faultOf({ seed, faults }: Pick<Plan, 'seed' | 'faults'>, number: number): Fault {
  const draw = new Draw(seed).of(`fault ${number}`);
  const first = new Draw(seed).of('order').shuffled(faults)[number];
  if (first !== undefined) return first;
  const kill = faults.find(({ name }) => name.startsWith('kill-server') || name === 'kill-node');
  return kill !== undefined && draw.below(4) < killsAmongFour ? kill : draw.pick(faults);
}

/** What came of a run. */
export interface Verdict {
  readonly tally: Tally;
  readonly acknowledged: number;
  readonly requests: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly keyChanges: number;
  readonly problems: readonly string[];
}

/** Rounds until `enough` says so, or something is wrong. */
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
  #delivery = 0;

  constructor(plan: Plan, makeWorld: () => Promise<World>) {
    this.#plan = plan;
    this.#makeWorld = makeWorld;
  }

  get rounds(): number {
    return this.#tally.rounds;
  }

  /** The next round; gives what is wrong after it. */
  async round(): Promise<readonly string[]> {
    const number = this.#tally.rounds++;
    const fault = faultOf(this.#plan, number);
    const draw = new Draw(this.#plan.seed).of(`round ${number}`);
    const world = await this.#worldToUse();
    const { queries } = this.#plan;
    const round: Round = { world, draw, tally: this.#tally, queries, load: () => this.#load(world) };
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

  /** Verifies the database, ends everything, and says how it was. */
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
      this.#delivery = 0;
    }
    return this.#world;
  }

  #load(world: World): Load {
    // Far enough that the loads of a world never share a delivery.
    const from = this.#delivery;
    this.#delivery += 1_000;
    return new Load(world, new Draw(this.#plan.seed).of('load'), { from });
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
