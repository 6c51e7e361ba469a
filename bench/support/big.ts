/** The largest database, created once for all benchmarks of a run, because that takes minutes. They only read it. */
import { type Columns, notedIn } from './columns.js';
import { makeEvents } from './events.js';
import { hotTime } from './fills.js';
import { Database } from './service.js';
import type { Workspace } from './workspace.js';

export interface Big {
  /** Includes the hot project. */
  readonly database: Database;
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

/** Creates the database, or returns the existing one. */
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
  note('making as many of one day');
  await database.fill('hot');
  const hotEvents = { ...events, times: events.times.map(hotTime) };
  return { database, events, hotEvents, bytesPerQuery, importSeconds };
}
