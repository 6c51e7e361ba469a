/** The largest database, and what a recount needs of it. */
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
}

/** Creates the database with `lines` queries in each of its projects, which takes minutes. */
export async function bigDatabase(
  workspace: Workspace,
  { lines, note }: { readonly lines: number; readonly note: (line: string) => void },
): Promise<Big> {
  note(`recording ${lines} events`);
  const database = await Database.create(workspace, `big-${lines}`);
  const { columns: events, noted } = notedIn(makeEvents(lines, 10), lines);
  await database.importEvents(noted, lines);
  note('making as many of one day');
  await database.fillHot();
  return { database, events, hotEvents: { ...events, times: events.times.map(hotTime) } };
}
