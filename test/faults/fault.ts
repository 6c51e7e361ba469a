/** The interface of faults, and helpers that most of them use. */
import { scheduler } from 'node:timers/promises';
import { kill } from '../support/cli/process.js';
import type { Draw } from './draw.js';
import type { Load } from './load.js';
import type { Node, ServeOptions, World } from './world.js';

export type StoreKind = 'sqlite' | 'postgres';

/** A database server that a fault kills and starts again, which waits until it is ready. */
export interface DatabaseServer {
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** Counts what a run has done. */
export class Tally {
  rounds = 0;
  kills = 0;
  /** How often each fault happened, by name. */
  readonly faults = new Map<string, number>();
  /** Details of faults and their effects, and how often they happened. */
  readonly notes = new Map<string, number>();

  note(text: string): void {
    this.notes.set(text, (this.notes.get(text) ?? 0) + 1);
  }
}

export interface Round {
  readonly world: World;
  readonly draw: Draw;
  readonly tally: Tally;
  /** The queries to record before the fault. */
  readonly queries: number;
  /** Starts a load that continues after the previous one. The number of its new queries is limited unless `endless`. */
  readonly load: (ending?: 'ending' | 'endless') => Load;
  /** Blocks that no load sends, except as repetitions. */
  readonly blocks: (howMany: number) => number[];
}

/** A way to break something. `run` also repairs it and checks that nothing was lost. */
export interface Fault {
  readonly name: string;
  readonly stores: readonly StoreKind[];
  readonly run: (round: Round) => Promise<void>;
}

/** The responses to wait for after a fault. */
const someAnswers = 30;

/** The first server of a world, which is started if there is none. */
export async function serverOf(world: World): Promise<Node> {
  return world.nodes[0] ?? (await world.join());
}

/** Replaces all servers of a world by a new one. */
export async function serverWith(world: World, options: ServeOptions = {}): Promise<Node> {
  for (const node of [...world.nodes]) await world.stop(node);
  return world.join(options);
}

/** Breaks and repairs something during a load, lets the load continue, and checks the counts. */
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

/** Kills a process after a random time of at most `mostMs`. */
export async function killWithin({ draw, tally }: Round, pid: number, mostMs: number): Promise<void> {
  await scheduler.wait(draw.below(mostMs));
  kill(pid, 'SIGKILL');
  tally.kills++;
}
