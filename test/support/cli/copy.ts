/** Helpers for the tests of `caller-stats copy`. */
import { expect, onTestFinished } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import type { Query } from '../../../src/domain/queries/query.js';
import { openStore } from '../../../src/storage/open.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { eventually } from '../postgres/nodes.js';
import { onDatabase } from '../storage/store.js';
import type { Outcome, RunOptions } from './cli.js';
import type { Place } from './cli-place.js';

/** A timeout for copies that a test blocks for a while. */
export const patient = { CALLER_STATS_DATABASE_TIMEOUT_MS: '100000' };

/** What `copy --json` prints. */
export interface Reported {
  readonly organizations: { readonly copied: number; readonly present: number };
  readonly keys: { readonly copied: number; readonly present: number };
  readonly projects: readonly { readonly id: string; readonly recorded: number; readonly equal: boolean }[];
}

/** Options that run a command on this database instead of the place's own. */
export function at(url: string): RunOptions {
  return { env: { DATABASE_URL: url } };
}

export function copy(place: Place, from: string, to: string, more: string[] = []): Promise<Outcome> {
  return place.run(['copy', '--from', from, '--to', to, ...more], { env: patient });
}

/** Opens a store without the program; closed after the test. */
export async function opened(url: string): Promise<Store> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

/** Every query of a project, in the same order for all stores. */
export async function queriesIn(store: Store, projectId: string): Promise<Query[]> {
  const queries: Query[] = [];
  for (let page = [{} as Query]; page.length > 0; ) {
    page = await store.counts.readQueries(projectId, queries.at(-1)?.id, 10_000);
    queries.push(...page);
  }
  return queries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The organizations, projects and keys of a store. */
export async function directoryOf(store: Store) {
  return {
    organizations: await store.directory.listOrganizations(),
    projects: await store.directory.listProjects(DEFAULT_ORGANIZATION_ID),
    keys: await store.directory.listKeys(DEFAULT_ORGANIZATION_ID),
  };
}

/** Waits until a project has this many queries. */
export async function untilRecorded(store: Store, projectId: string, queries: number): Promise<void> {
  await eventually(async () => {
    const { total } = await store.counts.count(projectId, ALL_TIME);
    return total < queries ? undefined : total;
  });
}

/** Runs `work` while another database session is recording a query, so that recording the same one waits for `work`. */
export function whileHeld<T>(
  url: string,
  { projectId, id }: { readonly projectId: string; readonly id: string },
  work: () => Promise<T>,
): Promise<T> {
  const schema = new URL(url).searchParams.get('schema');
  return onDatabase(url, async (client) => {
    await client.query('BEGIN');
    const held = await client.query(
      `INSERT INTO ${schema}.query (project_id, id, occurred_at, caller) VALUES ($1, $2, 0, 'web')`,
      [projectId, Buffer.from(id)],
    );
    expect(held.rowCount).toBe(1);
    try {
      return await work();
    } finally {
      await client.query('ROLLBACK');
    }
  });
}
