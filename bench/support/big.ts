/**
 * The largest databases, created once for all benchmarks of a run, because that takes minutes. One is read-only; the
 * other is for the benchmark that writes.
 */
import { type Columns, notedIn } from './columns.js';
import { makeEvents } from './events.js';
import { hotTime } from './fills.js';
import { Database } from './service.js';
import type { Workspace } from './workspace.js';

export interface Big {
  /** Includes the hot project. */
  readonly database: Database;
  /** Includes the project with random ids, but not the hot one. Only one benchmark may write to it. */
  readonly random: Database;
  /** The queries of its first project, over a year. */
  readonly events: Columns;
  /** The queries of the hot project: the same, within one day. */
  readonly hotEvents: Columns;
  /** Bytes of the tables and indexes for the queries of one project. */
  readonly bytesPerQuery: number;
  readonly importSeconds: number;
}

export interface BigOptions {
  /** Queries in each of its projects. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

const made = new WeakMap<Workspace, Map<number, Promise<Big>>>();

/** Creates the databases, or returns the existing ones. */
export function bigDatabase(workspace: Workspace, options: BigOptions): Promise<Big> {
  const bySize = made.get(workspace) ?? new Map<number, Promise<Big>>();
  made.set(workspace, bySize);
  const big = bySize.get(options.lines) ?? make(workspace, options);
  bySize.set(options.lines, big);
  return big;
}

async function make(workspace: Workspace, { lines, note }: BigOptions): Promise<Big> {
  note(`recording ${lines} events`);
  const database = await Database.create(workspace, `big-${lines}`);
  const { columns: events, noted } = notedIn(makeEvents(lines, 10), lines);
  const importSeconds = await database.importEvents(noted, lines);
  const bytesPerQuery = database.sizeBytes() / lines;
  note('making as many of one day, and with random ids');
  const random = await database.copy(workspace, `random-${lines}`);
  // Each import uses one core.
  await Promise.all([database.fill('hot'), random.fill('random')]);
  const hotEvents = { ...events, times: events.times.map(hotTime) };
  return { database, random, events, hotEvents, bytesPerQuery, importSeconds };
}
