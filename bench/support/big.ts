/**
 * The largest databases that are measured: made once for all benchmarks of a run, because that takes minutes. One is for reading
 * alone, the other for the benchmark that writes.
 */
import { type Columns, notedIn } from './columns.js';
import { makeEvents } from './events.js';
import { hotTime } from './fills.js';
import { Database } from './service.js';
import type { Workspace } from './workspace.js';

export interface Big {
  /** With the hot project. */
  readonly database: Database;
  /** With the project of random ids, and without the hot one. Only one benchmark may write to it. */
  readonly random: Database;
  /** What was asked in its first project: over a year. */
  readonly events: Columns;
  /** And in the hot one: the same, in one day. */
  readonly hotEvents: Columns;
  /** Of all that it takes to keep the queries of one project. */
  readonly bytesPerQuery: number;
  readonly importSeconds: number;
}

export interface BigOptions {
  /** Of each of its projects. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

const made = new WeakMap<Workspace, Map<number, Promise<Big>>>();

/** Has it made, or gives the one that was. */
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
  // Each is busy with one core.
  await Promise.all([database.fill('hot'), random.fill('random')]);
  const hotEvents = { ...events, times: events.times.map(hotTime) };
  return { database, random, events, hotEvents, bytesPerQuery, importSeconds };
}
