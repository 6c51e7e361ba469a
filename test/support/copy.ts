/** What the tests of `caller-stats copy` share. */
import { expect, onTestFinished } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/project.js';
import type { Query } from '../../src/domain/queries/query.js';
import { openStore } from '../../src/storage/open.js';
import type { Store } from '../../src/storage/ports/store.js';
import type { Outcome, RunOptions } from './cli.js';
import type { Place } from './cli-place.js';
import { onDatabase } from './store.js';

/** Long enough for a copy that a test holds up. */
export const patient = { CALLER_STATS_DATABASE_TIMEOUT_MS: '100000' };

/** What `copy --json` prints. */
export interface Reported {
  readonly organizations: { readonly copied: number; readonly present: number };
  readonly keys: { readonly copied: number; readonly present: number };
  readonly projects: readonly { readonly id: string; readonly recorded: number; readonly equal: boolean }[];
}

/** Runs the program with another database than the place's own. */
export function at(url: string): RunOptions {
  return { env: { DATABASE_URL: url } };
}

export function copy(place: Place, from: string, to: string, more: string[] = []): Promise<Outcome> {
  return place.run(['copy', '--from', from, '--to', to, ...more], { env: patient });
}

/** Opens a store past the program; closed when the test is over. */
export async function opened(url: string): Promise<Store> {
  const store = await openStore(url);
  onTestFinished(() => store.close());
  return store;
}

/** Every query of a project, in an order that all stores share. */
export async function queriesIn(store: Store, projectId: string): Promise<Query[]> {
  const queries: Query[] = [];
  for (let page = [{} as Query]; page.length > 0; ) {
    page = await store.readQueries(projectId, queries.at(-1)?.id, 10_000);
    queries.push(...page);
  }
  return queries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Organizations, projects and keys, as the port gives them. */
export async function stockOf(store: Store) {
  return {
    organizations: await store.listOrganizations(),
    projects: await store.listProjects(DEFAULT_ORGANIZATION_ID),
    keys: await store.listKeys(DEFAULT_ORGANIZATION_ID),
  };
}

/** Resolves once the project has so many queries. */
export async function hasRecorded(store: Store, projectId: string, queries: number): Promise<void> {
  let total = 0;
  while (total < queries) ({ total } = await store.count(projectId, ALL_TIME));
}

/**
 * Runs `work` while another session of the database holds a query's id, as if it were recording it: whoever records
 * the same waits until `work` is done.
 */
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
