/**
 * On a cluster, look-ups of keys read a copy of the projects, and never the workers. An extension stands in for Citus; on a
 * cluster, the conformance suite makes the same changes.
 */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProjectChange } from '../../../src/domain/projects/project.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { migrateStore } from '../../../src/storage/open.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { addCoordinator, standIn } from '../../support/postgres/citus-stand-in.js';
import { eventually } from '../../support/postgres/nodes.js';
import {
  newestPostgres,
  type PostgresServer,
  startPostgres,
} from '../../support/postgres/postgres-server.js';
import { newUser } from '../../support/postgres/postgres-user.js';
import { programOn } from '../../support/postgres/schema-nodes.js';
import {
  by,
  intact,
  keyOf,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  purgeAll,
  retainAll,
  schemaOf,
} from '../../support/storage/store.js';

const org = 'default';
const ids = ['a', 'b', 'c'];
const nowMs = Date.parse('2026-06-15T12:00:00Z');

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres(newestPostgres(), { extensions: standIn });
  await onDatabase(server.url(), (client) => client.query('CREATE EXTENSION citus'));
  await addCoordinator(server.url());
});
afterAll(() => server.stop());

const change: fc.Arbitrary<ProjectChange> = fc.record(
  {
    name: fc.constantFrom('x', "quote ' and \\ and \u{1F600}"),
    timeZone: fc.constantFrom(null, 'Europe/Berlin'),
    retentionDays: fc.constantFrom(null, 1, 2),
    earliestAt: fc.constantFrom(null, -8_640_000_000_000_000, 8_640_000_000_000_000),
    otlpQuery: fc.constantFrom(null, 'a=b'),
  },
  { requiredKeys: [] },
);

const kinds = ['create', 'create', 'change', 'change', 'delete', 'purge', 'retain', 'distribute'] as const;

/** Something that may change the projects of a database, or how they are stored. */
const step = fc.record({ kind: fc.constantFrom(...kinds), id: fc.constantFrom(...ids), change });
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function take({ kind, id, change: to }: Step, store: Store, url: string): Promise<void> {
  const { directory } = store;
  const work: Readonly<Record<Step['kind'], () => Promise<unknown>>> = {
    create: () => directory.createProject(projectOf(id), by),
    change: () => directory.changeProject(org, id, to, by),
    delete: () => directory.deleteProject(org, id, by),
    purge: () => purgeAll(store),
    retain: () => retainAll(store, nowMs),
    distribute: () => distribute(url),
  };
  // There is a project already, or none.
  await work[kind]().catch((error) => expect(['already_exists', 'not_found']).toContain(error.code));
}

const distribute = (url: string) => migrateStore(url, { distribute: true });

/** A schema with a key of all projects, distributed or not. */
async function newStore({ distributed }: { readonly distributed: boolean }) {
  const url = newSchemaIn(server.url());
  if (distributed) await distribute(url);
  const store = await openForTest(url);
  await store.directory.createKey(keyOf('k'), by);
  return { url, store, schema: schemaOf(url) };
}

const access = async (store: Store, id: string) =>
  (await store.directory.findAccess('hash of k', id))?.project;

/** Every look-up finds what the table `project` has, and so does the list. */
async function requireSame(store: Store): Promise<void> {
  const projects = await Promise.all(ids.map((id) => store.directory.findProject(org, id)));
  for (const [at, id] of ids.entries()) expect(await access(store, id)).toEqual(projects[at]);
  expect(await store.directory.listProjects(org)).toEqual(projects.filter((one) => one !== undefined));
}

/** Removes all that only workers have. */
const loseWorkers = (schema: string) =>
  onDatabase(server.url(), (client) => client.query(`DELETE FROM ${schema}.project`));

/** Resolves once a statement of the schema waits for a lock. */
const waiting = (client: pg.Client, schema: string) =>
  eventually(async () => {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
      [schema],
    );
    return rowCount === 0 ? undefined : true;
  });

describe('on a cluster', () => {
  test('a look-up finds no project that is deleted, missing, or of another organization', async () => {
    const { store, schema } = await newStore({ distributed: true });
    await store.directory.createOrganization({ id: 'o', name: 'o', createdAt: 1 }, by);
    await store.directory.createProject(projectOf('a'), by);
    await store.directory.createProject(projectOf('b', { organizationId: 'o' }), by);
    await store.directory.createProject(projectOf('c'), by);
    await store.directory.deleteProject(org, 'a', by);
    await loseWorkers(schema);
    for (const id of ['a', 'b', 'missing']) expect(await access(store, id)).toBeUndefined();
    expect(await access(store, 'c')).toEqual(projectOf('c'));
    expect(await store.directory.listProjects(org)).toEqual([projectOf('c')]);
    expect(await store.directory.listProjects('o')).toMatchObject([{ id: 'b' }]);
  });

  test('a revoked key is revoked at once, without a worker', async () => {
    const { store, schema } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a'), by);
    await loseWorkers(schema);
    await store.directory.changeKey(org, 'k', 'revoke', { ...by, at: 5 });
    const found = await store.directory.findAccess('hash of k', 'a');
    expect(found).toMatchObject({ key: { revokedAt: 5 }, project: { id: 'a' } });
  });

  test('a correction leaves the copy as the project', async () => {
    const { store } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a'), by);
    await store.counts.record('a', [{ id: 'a', caller: 'web', occurredAt: 0 }], { day: 0, sender: 'copy' });
    const request = { id: '1', reason: 'a test', action: 'withdraw', selection: { source: 'old' } } as const;
    await store.corrections.accept('a', request, by);
    expect(await store.maintenance.verify()).toEqual(intact(1, 1));
  });

  test('nothing that a look-up found is proved when something is recorded, which a worker does', async () => {
    const { store, url } = await newStore({ distributed: false });
    await store.directory.createProject(projectOf('a'), by);
    const proof = async (isAsked: boolean) =>
      (await store.directory.findAccess('hash of k', 'a', isAsked))?.proof;
    expect([await proof(true), await proof(false)]).toEqual([expect.anything(), undefined]);
    await distribute(url);
    expect(await proof(true)).toBeUndefined();
  });

  test('a change that is undone changes no copy', async () => {
    const { store } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a'), by);
    const again = store.directory.createProject(projectOf('a', { name: 'other' }), by);
    await expect(again).rejects.toMatchObject({ code: 'already_exists' });
    expect(await access(store, 'a')).toEqual(projectOf('a'));
  });

  test('after any changes, distributing again between them, look-ups find the projects as they are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), fc.boolean(), async (steps, distributed) => {
        const { store, url } = await newStore({ distributed });
        for (const one of steps) {
          await take(one, store, url);
          await requireSame(store);
        }
        await store.close();
      }),
      { numRuns: 10 },
    );
  });

  test('retention that has moved shows in look-ups', async () => {
    const { store, schema } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a', { retentionDays: 1 }), by);
    await store.counts.record('a', [{ id: 'q', caller: 'web', occurredAt: nowMs - 5 * dayMs }]);
    await retainAll(store, nowMs);
    const project = await store.directory.findProject(org, 'a');
    expect(project?.rowsFrom).toEqual(expect.any(Number));
    await loseWorkers(schema);
    expect(await access(store, 'a')).toEqual(project);
  });
});

describe('counts on a cluster', () => {
  test('of a deleted or missing project are zero, although its counters are there', async () => {
    const { store } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a'), by);
    await store.counts.record('a', [{ id: 'q', caller: 'web', occurredAt: 0 }]);
    expect(await store.counts.count('a', { from: 0, to: dayMs })).toMatchObject({ total: 1 });
    await store.directory.deleteProject(org, 'a', by);
    for (const id of ['a', 'missing'])
      expect(await store.counts.count(id, { from: 0, to: dayMs })).toMatchObject({ total: 0 });
  });

  test('are what a recount of the queries gives, for any range', async () => {
    const quarterMs = 15 * 60_000;
    // Mostly few, so that queries are at the bounds of ranges.
    const quarter = fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: -3, max: 3 }) },
      fc.integer({ min: -12_000, max: 12_000 }),
    );
    const time = fc
      .tuple(quarter, fc.constantFrom(-1, 0, 1, 10_000, 12_345))
      .map(([at, more]) => at * quarterMs + more);
    const bound = fc.oneof(
      quarter.map((at) => at * quarterMs),
      quarter.map((at) => at * 32 * quarterMs),
      time,
    );
    const query = fc.record({ caller: fc.constantFrom('web', 'api', 'slack'), occurredAt: time });
    const { store } = await newStore({ distributed: true });
    let projects = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(query, { minLength: 1, maxLength: 60 }),
        fc.array(fc.tuple(bound, bound), { minLength: 1, maxLength: 20 }),
        async (queries, ranges) => {
          const id = `p${projects++}`;
          await store.directory.createProject(projectOf(id), by);
          await store.counts.record(
            id,
            queries.map((one, at) => ({ ...one, id: String(at) })),
          );
          for (const [one, other] of ranges) {
            const range = { from: Math.min(one, other), to: Math.max(one, other) };
            const counted = queries.filter(({ occurredAt: at }) => at >= range.from && at < range.to);
            const of = (caller: string) => counted.filter((query) => query.caller === caller).length;
            expect(await store.counts.count(id, range)).toEqual({
              web: of('web'),
              api: of('api'),
              other: of('slack'),
              total: counted.length,
            });
          }
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('verify', () => {
  test('names projects whose copies are not right, and finds none once they are made again', async () => {
    const { store, url, schema } = await newStore({ distributed: true });
    for (const id of ['a', 'b', 'c', 'd']) await store.directory.createProject(projectOf(id), by);
    await store.directory.deleteProject(org, 'd', by);
    const verify = () => programOn(url).run(['verify']);
    expect(await verify()).toMatchObject({ status: 0 });
    await onDatabase(server.url(), (client) =>
      client.query(`UPDATE ${schema}.project_copy SET name = 'changed' WHERE id = 'a';
        DELETE FROM ${schema}.project_copy WHERE id = 'b';
        INSERT INTO ${schema}.project_copy (id, organization_id, name, created_at) VALUES ('d', '${org}', 'd', 1000)`),
    );
    expect(await store.maintenance.verify()).toMatchObject({ wrongCopies: ['a', 'b', 'd'] });
    const { status, stdout } = await verify();
    expect({ status, lines: stdout.split('\n').slice(0, 3) }).toEqual({
      status: 1,
      lines: ['a', 'b', 'd'].map(
        (id) =>
          `project ${id}: its copy on the coordinator is not right; caller-stats migrate --distribute makes all copies again`,
      ),
    });
    await distribute(url);
    expect(await verify()).toMatchObject({ status: 0 });
  });

  test('takes no change in progress for a difference', async () => {
    const { store, schema } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a'), by);
    const rename = (table: string) => `UPDATE ${schema}.${table} SET name = 'changed' WHERE id = 'a'`;
    await onDatabase(server.url(), async (client) => {
      // The copy is changed as on another server: it is seen first.
      await client.query(rename('project_copy'));
      await client.query(`BEGIN; ${rename('project')}`);
      const verified = store.maintenance.verify();
      await onDatabase(server.url(), (other) => waiting(other, schema));
      await client.query('COMMIT');
      expect(await verified).not.toHaveProperty('wrongCopies');
    });
  });
});

describe('distributing', () => {
  test('waits for a change in progress, and has it in the copy', async () => {
    const { store, url, schema } = await newStore({ distributed: false });
    await store.directory.createProject(projectOf('a'), by);
    await onDatabase(server.url(), async (client) => {
      await client.query(`BEGIN; UPDATE ${schema}.project SET name = 'changed' WHERE id = 'a'`);
      const distributed = distribute(url);
      await onDatabase(server.url(), (other) => waiting(other, schema));
      await client.query('COMMIT');
      await distributed;
    });
    expect(await access(store, 'a')).toMatchObject({ name: 'changed' });
  });

  test('again brings what was left out, and removes what is not there', async () => {
    const { store, url, schema } = await newStore({ distributed: true });
    await store.directory.createProject(projectOf('a'), by);
    await store.directory.createProject(projectOf('b'), by);
    await onDatabase(server.url(), async (client) => {
      await client.query(`UPDATE ${schema}.project SET name = 'changed' WHERE id = 'a'`);
      await client.query(`DELETE FROM ${schema}.project WHERE id = 'b'`);
      await client.query(
        `INSERT INTO ${schema}.project (id, organization_id, name, created_at) VALUES ('c', '${org}', 'c', 1000)`,
      );
    });
    expect((await distribute(url)).distributed).toEqual([]);
    await requireSame(store);
    expect(await access(store, 'c')).toEqual(projectOf('c'));
  });

  test('gives the copy to the users that have the projects', async () => {
    const { store, url, schema } = await newStore({ distributed: false });
    await store.directory.createProject(projectOf('a'), by);
    const user = await newUser(server.url(), 'secret');
    await onDatabase(server.url(), (client) =>
      client.query(`GRANT USAGE ON SCHEMA ${schema} TO ${user.name};
        GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${user.name};
        GRANT INSERT, DELETE ON ${schema}.project TO ${user.name}`),
    );
    for (const _ of [1, 2]) {
      await distribute(url);
      const { rows } = await onDatabase(user.url(server.url()), (client) =>
        client.query(
          `SELECT privilege, has_table_privilege('${schema}.project_copy', privilege) AS given
           FROM unnest(ARRAY['SELECT', 'INSERT', 'DELETE', 'UPDATE', 'TRUNCATE']) AS privilege`,
        ),
      );
      expect(rows.filter(({ given }) => given).map(({ privilege }) => privilege)).toEqual([
        'SELECT',
        'INSERT',
        'DELETE',
      ]);
    }
  });
});
