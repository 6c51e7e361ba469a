/** What every kind of fault is given, and how a round of most of them goes. */
import { scheduler } from 'node:timers/promises';
import { kill } from '../support/process.js';
import type { Draw } from './draw.js';
import type { Load } from './load.js';
import type { Node, ServeOptions, World } from './world.js';

export type StoreKind = 'sqlite' | 'postgres';

/** What a run has done so far. */
export class Tally {
  rounds = 0;
  kills = 0;
  /** How often each fault was made, by name. */
  readonly faults = new Map<string, number>();
  /** How a fault was made, or what came of it, and how often. */
  readonly notes = new Map<string, number>();

  note(text: string): void {
    this.notes.set(text, (this.notes.get(text) ?? 0) + 1);
  }
}

export interface Round {
  readonly world: World;
  readonly draw: Draw;
  readonly tally: Tally;
  /** Queries that a load brings in at least before the fault. */
  readonly queries: number;
  /** Starts a load that goes on where the one before ended; with an end to what is new in it, unless told. */
  readonly load: (ending?: 'ending' | 'endless') => Load;
  /** Blocks that no load sends unless as repeats. */
  readonly blocks: (howMany: number) => number[];
}

/** A way to break things, which sees to it that they are whole again, and checks that nothing was lost. */
export interface Fault {
  readonly name: string;
  readonly stores: readonly StoreKind[];
  readonly run: (round: Round) => Promise<void>;
}

/** Answers that come before, during and after a fault, at least. */
const someAnswers = 30;

/** The server that a world has, started where there is none. */
export async function serverOf(world: World): Promise<Node> {
  return world.nodes[0] ?? (await world.join());
}

/** A new server in the place of those that a world has. */
export async function serverWith(world: World, options: ServeOptions = {}): Promise<Node> {
  for (const node of [...world.nodes]) await world.stop(node);
  return world.join(options);
}

/** Breaks something in the middle of a load, has the load go on when it is whole again, and checks. */
export async function underLoad(
  { world, draw, queries, load: start }: Round,
  breakAndMend: (load: Load, node: Node) => Promise<void>,
  ending: 'ending' | 'endless' = 'ending',
): Promise<void> {
  const node = await serverOf(world);
  const load = start(ending);
  await load.acknowledged(queries);
  await breakAndMend(load, node);
  await load.progress(someAnswers);
  await load.finish();
  await world.check(draw);
}

/** Kills a process, after so many milliseconds at most. */
export async function killWithin({ draw, tally }: Round, pid: number, mostMs: number): Promise<void> {
  await scheduler.wait(draw.below(mostMs));
  kill(pid, 'SIGKILL');
  tally.kills++;
}
