/** Many nodes on one database: nothing that one did is unknown to another's next request. */
import { describe, expect, inject, test } from 'vitest';
import { sharedByTests } from '../../support/cleanup.js';
import { firstRunOf, kill, LATER_START } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { succeed } from '../../support/cli/cli-place.js';
import { programOn, ready, statusOf } from '../../support/postgres/schema-nodes.js';
import { newSchemaIn, onDatabase, schemaOf } from '../../support/storage/store.js';

const servers = inject('postgresServers').map(({ version, url }) => [version, url] as const);
const [, newest = ''] = servers.at(-1) ?? [];

/** How many rows each table of a schema has. */
async function rowsIn(url: string, ...tables: readonly string[]): Promise<number[]> {
  const schema = schemaOf(url);
  return onDatabase(url, async (client) => {
    const counts: number[] = [];
    for (const table of tables) {
      const { rows } = await client.query(`SELECT count(*)::integer AS rows FROM ${schema}.${table}`);
      counts.push(Number(rows[0]?.rows));
    }
    return counts;
  });
}

/** So many nodes on a new schema, the project and keys of the first run, and a client of each node. */
async function nodesOn(url: string, count: number) {
  const program = programOn(url);
  const running = Array.from({ length: count }, () => program.start());
  const started = await Promise.all(running.map(ready));
  const makers = started.filter(({ stdout }) => stdout.includes('Created a first project'));
  const [made] = makers.map((server) => firstRunOf(server));
  if (made === undefined) throw new Error('no node made the first keys');
  const nodes = started.map((server, at) => ({
    ...server,
    running: running[at],
    admin: clientOf(server, made.project, made.admin),
    recording: clientOf(server, made.project, made.recording),
  }));
  return { program, made, makers, nodes };
}

describe.each(servers)('on PostgreSQL %s', (_version, databaseUrl) => {
  test('one of five nodes that start together creates the first keys, and all become ready', async () => {
    const url = newSchemaIn(databaseUrl);
    const { nodes, makers } = await nodesOn(url, 5);
    expect(makers).toHaveLength(1);
    for (const node of nodes) expect(await statusOf(node, '/readyz')).toBe(200);
    const tables = ['schema_version', 'organization', 'project', 'api_key'];
    expect(await rowsIn(url, ...tables)).toEqual([1, 1, 1, 2]);
    for (const [at, { recording }] of nodes.entries()) {
      expect(await recording.record(batchOf(at, 3))).toMatchObject({ body: { recorded: 3, duplicates: 0 } });
      const sofar = at + 1;
      const counts = { web: sofar, api: sofar, other: sofar, total: 3 * sofar };
      for (const { admin } of nodes) expect(await admin.count()).toEqual({ status: 200, body: counts });
    }
  });
});

describe('on three nodes', () => {
  const three = sharedByTests(() => nodesOn(newSchemaIn(newest), 3));

  /** A project and keys of the test's own, and clients of each node with them. */
  async function ownProject(id: string) {
    const { program, nodes } = three();
    const key = async (type: 'admin' | 'recording') => {
      const project = type === 'recording' ? ['--project', id] : [];
      const { stdout } = await succeed(
        program.run(['key', 'create', '--name', `${type} of ${id}`, '--type', type, ...project]),
      );
      return stdout.trim();
    };
    await succeed(program.run(['project', 'create', id, '--id', id]));
    const [admin, recording] = [await key('admin'), await key('recording')];
    const clients = nodes.map((node) => ({
      ...node,
      admin: clientOf(node, id, admin),
      recording: clientOf(node, id, recording),
    }));
    return { program, nodes: clients };
  }

  test('batches sent to every node concurrently are counted once', async () => {
    const { program, nodes } = await ownProject('batches');
    const batches = Array.from({ length: 20 }, (_, number) => batchOf(number, 50));
    const answers = await Promise.all(
      batches.flatMap((batch, number) =>
        nodes.map(({ recording }, at) => recording.record(at === number % 3 ? batch.toReversed() : batch)),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.reduce((sum, { body }) => sum + body.recorded, 0)).toBe(1000);
    expect(answers.reduce((sum, { body }) => sum + body.duplicates, 0)).toBe(2000);
    const counts = { web: 340, api: 340, other: 320, total: 1000 };
    for (const { admin } of nodes) expect(await admin.count()).toEqual({ status: 200, body: counts });
    const { stdout } = await succeed(program.run(['verify']));
    expect(stdout).toMatch(/^[\d,]+ queries in \d+ projects: every counter is what a recount gives\n$/);
  });

  test('every node refuses a revoked key from its next request on', async () => {
    const { program, nodes } = await ownProject('revoked');
    const { stdout } = await succeed(program.run(['key', 'list', '--json']));
    const keys = JSON.parse(stdout) as { id: string; name: string }[];
    const refused = { status: 401, body: { error: 'The API key is revoked.' } };
    const everywhere = async (type: 'admin' | 'recording') =>
      Promise.all(
        nodes.map((node, at) =>
          type === 'admin' ? node.admin.count() : node.recording.record(batchOf(at, 1)),
        ),
      );
    for (const type of ['recording', 'admin'] as const) {
      expect((await everywhere(type)).map(({ status }) => status)).toEqual([200, 200, 200]);
      const id = keys.find(({ name }) => name === `${type} of revoked`)?.id ?? '';
      await succeed(program.run(['key', 'revoke', id]));
      expect(await everywhere(type)).toEqual([refused, refused, refused]);
    }
    const key = await succeed(program.run(['key', 'create', '--name', 'another']));
    for (const node of nodes) {
      const client = clientOf(node, 'revoked', key.stdout.trim());
      expect(await client.count()).toMatchObject({ status: 200, body: { total: 3 } });
    }
  });

  test('every node knows a new project at once', async () => {
    const { program, made, nodes } = three();
    for (const node of nodes) {
      expect(await clientOf(node, 'later', made.admin).count()).toMatchObject({ status: 404 });
    }
    await succeed(program.run(['project', 'create', 'Later', '--id', 'later']));
    for (const [at, node] of nodes.entries()) {
      const client = clientOf(node, 'later', made.admin);
      expect(await client.count()).toMatchObject({ status: 200, body: { total: at } });
      expect(await client.record(batchOf(at, 1))).toMatchObject({ status: 200, body: { recorded: 1 } });
    }
  });

  test('nodes can start and stop while others count', async () => {
    const { program, nodes, made } = three();
    const late = program.start();
    const { stdout, ...server } = await ready(late);
    expect(stdout).toMatch(LATER_START);
    const client = clientOf(server, made.project, made.admin);
    expect(await client.record(batchOf(0, 3))).toMatchObject({ body: { recorded: 3 } });
    kill(late.pid, 'SIGKILL');
    await late.ended;
    expect(await nodes[0]?.admin.count()).toMatchObject({ body: { total: 3 } });
    const listed = await succeed(program.run(['project', 'list', '--json']));
    expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining({ id: made.project }));
  });

  // The last, for it leaves two.
  test('a node that stops finishes its requests and does not affect others', async () => {
    const { nodes } = await ownProject('stops');
    const [first, second, third] = nodes;
    const everywhere = Promise.all(nodes.map(({ recording }, at) => recording.record(batchOf(at, 10))));
    expect((await everywhere).map(({ status }) => status)).toEqual([200, 200, 200]);
    kill(first?.running?.pid ?? 0, 'SIGTERM');
    const during = [
      second?.recording.record(batchOf(4, 10)),
      third?.recording.record(batchOf(5, 10)),
      second?.admin.count(),
    ];
    expect((await Promise.all(during)).map((answer) => answer?.status)).toEqual([200, 200, 200]);
    const { status, stderr } = (await first?.running?.ended) ?? {};
    expect(status).toBe(0);
    // The tests above sent requests that this node had to refuse.
    const warnings = (stderr ?? '').split('\n').filter((line) => /"level":[456]0/.test(line));
    expect(warnings.filter((line) => !line.includes('"msg":"request refused"'))).toEqual([]);
    for (const node of [second, third]) {
      expect(await node?.admin.count()).toMatchObject({ status: 200, body: { total: 50 } });
    }
  });
});
