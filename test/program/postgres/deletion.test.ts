/** Projects that are deleted while nodes record into them: gone at once, everywhere, and nothing is left in the end. */
import { describe, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { firstRunOf, kill } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { succeed } from '../../support/cli/cli-place.js';
import { whileHeld } from '../../support/cli/copy.js';
import { eventually } from '../../support/postgres/nodes.js';
import { programOn, ready } from '../../support/postgres/schema-nodes.js';
import { knownEvent, recount } from '../../support/storage/ledger.js';
import {
  by,
  intact,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  purgeAll,
  retainAll,
  schemaOf,
} from '../../support/storage/store.js';

const servers = inject('postgresServers').map(({ version, url }) => [version, url] as const);
const org = 'default';

/** How many rows of a project there are in all tables that have any, its own included. */
async function rowsOf(url: string, projectId: string): Promise<number> {
  const schema = schemaOf(url);
  return onDatabase(url, async (client) => {
    const { rows } = await client.query(
      `SELECT (SELECT count(*) FROM ${schema}.query WHERE project_id = $1)
         + (SELECT count(*) FROM ${schema}.caller_type_counter WHERE project_id = $1)
         + (SELECT count(*) FROM ${schema}.caller_counter WHERE project_id = $1)
         + (SELECT count(*) FROM ${schema}.project WHERE id = $1) AS rows`,
      [projectId],
    );
    return Number(rows[0]?.rows);
  });
}

/** Resolves once so many statements on a schema wait for a lock. */
async function waiting(url: string, howMany: number): Promise<void> {
  const schema = schemaOf(url);
  await onDatabase(url, (client) =>
    eventually(async () => {
      const { rowCount } = await client.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
        [schema],
      );
      return (rowCount ?? 0) >= howMany ? true : undefined;
    }),
  );
}

interface Recording {
  /** Resolves when the first batch was acknowledged. */
  readonly started: Promise<void>;
  /** Resolves when the project is gone. */
  readonly ended: Promise<void>;
}

/** Records batch after batch until the project is gone. */
function recordUntilGone(store: Store, projectId: string, writer: number): Recording {
  let start = (): void => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const record = async (): Promise<void> => {
    for (let batches = 0; ; batches++) {
      const from = batches * 20;
      const batch = Array.from({ length: 30 }, (_, at) => ({
        ...knownEvent(from + at),
        id: `${writer % 2} ${from + at}`,
      }));
      try {
        await store.counts.record(projectId, batch);
      } catch (error) {
        expect(error).toMatchObject({ code: 'not_found' });
        return;
      }
      start();
    }
  };
  return { started, ended: record() };
}

describe.each(servers)('on PostgreSQL %s', (_version, databaseUrl) => {
  test('a deletion succeeds under the load of four nodes, and its purge removes every row', async () => {
    const url = newSchemaIn(databaseUrl);
    const nodes = await Promise.all(
      Array.from({ length: 4 }, () => openForTest(url, { connectionsMax: 6, timeoutMs: 60_000 })),
    );
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error('there are no nodes');
    const kept = Array.from({ length: 500 }, (_, number) => knownEvent(number));
    await first.directory.createProject(projectOf('kept'), by);
    for (let round = 0; round < 8; round++) {
      // The same id each time, as soon as it can be had again.
      await first.directory.createProject(projectOf('p'), by);
      const writers = [...nodes, ...nodes].map((node, writer) => recordUntilGone(node, 'p', writer));
      await Promise.all(writers.map(({ started }) => started));
      await eventually(async () =>
        (await second.counts.count('p', ALL_TIME)).total > 200 ? true : undefined,
      );
      await second.counts.record('kept', kept.slice(round * 50, round * 50 + 100));
      await second.directory.deleteProject(org, 'p', by);
      const refused = nodes.map((node) =>
        node.counts.record('p', [knownEvent(1)]).catch((error) => error.code),
      );
      expect(await Promise.all(refused)).toEqual(nodes.map(() => 'not_found'));
      // Some are still on their way to being told.
      await Promise.all(nodes.map(purgeAll));
      expect(await rowsOf(url, 'p')).toBe(0);
      await Promise.all(writers.map(({ ended }) => ended));
      expect(await rowsOf(url, 'p')).toBe(0);
    }
    const recorded = kept.slice(0, 450);
    expect(await first.counts.count('kept', ALL_TIME)).toEqual(recount(recorded, ALL_TIME));
    expect(await first.maintenance.verify()).toEqual(intact(1, recorded.length));
  });

  const deletion = (store: Store): Promise<unknown> => store.directory.deleteProject(org, 'p', by);
  const givingUp = (store: Store): Promise<unknown> => store.maintenance.applyRetention(50 * dayMs, 10);
  test.each([
    ['a deletion', 'one query', deletion, ['held'], false],
    ['a deletion', 'several', deletion, ['a', 'held'], false],
    ['giving up old rows', 'one query', givingUp, ['held'], true],
    ['giving up old rows', 'several', givingUp, ['a', 'held'], true],
  ])('%s waits for a recording of %s in progress and then sees it', async (_, _of, work, ids, lives) => {
    const url = newSchemaIn(databaseUrl);
    const nodes = await Promise.all(
      [1, 2].map(() => openForTest(url, { connectionsMax: 4, timeoutMs: 60_000 })),
    );
    const [first, second] = nodes;
    if (first === undefined || second === undefined) throw new Error('there are no nodes');
    await first.directory.createProject(projectOf('p', { retentionDays: 1 }), by);
    const batch = ids.map((id) => ({ id, caller: 'slack', occurredAt: 5 }));
    let over = false;
    const ended = await whileHeld(url, { projectId: 'p', id: 'held' }, async () => {
      const recording = first.counts.record('p', batch);
      await waiting(url, 1);
      const working = work(second).finally(() => {
        over = true;
      });
      // It would be over by now, had it not to wait as well.
      await Promise.race([waiting(url, 2), working]);
      expect(over).toBe(false);
      return { recording, working };
    });
    expect(await ended.recording).toEqual({ recorded: ids.length, duplicates: 0 });
    await ended.working;
    if (lives) {
      await expect(first.counts.record('p', batch)).rejects.toMatchObject({ code: 'invalid' });
      await retainAll(second, 50 * dayMs);
      expect(await second.counts.count('p', ALL_TIME)).toMatchObject({ other: ids.length });
      expect(await second.counts.readQueries('p', undefined, 10)).toEqual([]);
    } else {
      await expect(first.counts.record('p', batch)).rejects.toMatchObject({ code: 'not_found' });
      await purgeAll(second);
      expect(await rowsOf(url, 'p')).toBe(0);
    }
    expect(await first.maintenance.verify()).toMatchObject({ queries: 0, differencesTotal: 0 });
  });

  test('an id stays taken until the purge has finished, and then belongs to a new project', async () => {
    const url = newSchemaIn(databaseUrl);
    const store = await openForTest(url);
    await store.directory.createProject(projectOf('p'), by);
    await store.counts.record('p', [knownEvent(1), knownEvent(2)]);
    await store.directory.deleteProject(org, 'p', by);
    await store.maintenance.purgeDeleted(1);
    await expect(store.directory.createProject(projectOf('p'), by)).rejects.toMatchObject({
      code: 'already_exists',
      message: expect.stringMatching(/still being removed\. Try again in a while/),
    });
    await purgeAll(store);
    await store.directory.createProject(projectOf('p'), by);
    expect(await store.counts.record('p', [knownEvent(1)])).toEqual({ recorded: 1, duplicates: 0 });
  });
});

test('a deleted project is 404 on every node, and another node finishes a killed purge', async () => {
  const [, newest = ''] = servers.at(-1) ?? [];
  const url = newSchemaIn(newest);
  const program = programOn(url);
  const running = [program.start(), program.start(), program.start()];
  const started = await Promise.all(running.map(ready));
  const [made] = started.filter(({ stdout }) => stdout.includes('Created a first project')).map(firstRunOf);
  if (made === undefined) throw new Error('no node made the first keys');
  const { project, admin, recording } = made;
  const readers = started.map((server) => clientOf(server, project, admin));
  const writers = started.map((server) => clientOf(server, project, recording));
  for (const [at, writer] of writers.entries()) {
    expect(await writer.record(batchOf(at, 3000))).toMatchObject({ status: 200 });
  }
  // Past the commands, which would purge it themselves: the nodes find it, and one of them dies at it.
  const store = await openForTest(url);
  await store.directory.deleteProject(org, project, by);
  for (const reader of readers) {
    expect(await reader.count()).toEqual({ status: 404, body: { error: 'There is no such project.' } });
  }
  for (const writer of writers) {
    expect(await writer.record(batchOf(9, 1))).toMatchObject({ status: 401 });
  }
  await store.maintenance.purgeDeleted(1000);
  kill(running[0]?.pid ?? 0, 'SIGKILL');
  program.start();
  await eventually(async () => ((await rowsOf(url, project)) === 0 ? true : undefined));
  const { stdout } = await succeed(program.run(['verify']));
  expect(stdout).toBe('0 queries in 0 projects: every counter is what a recount gives\n');
});
