/** Both sides of the PostgreSQL benchmark with the same events: nodes of the service, and the hand-written server. */
import { deepStrictEqual } from 'node:assert/strict';
import type { PostgresServer } from '../../test/support/postgres/postgres-server.js';
import { toColumns } from './columns.js';
import { makeEvents, writeNdjson } from './events.js';
import { fillTables, serveTables } from './hand-written.js';
import { createDatabase, readSize, using, vacuum } from './postgres.js';
import { BOUNDS, type Bounds, makeRanges, recount, toQueryString } from './ranges.js';
import { Database, projectId } from './service.js';
import type { Target } from './traffic.js';
import type { Workspace } from './workspace.js';

export const nodesMax = 3;

export interface Side {
  /** All processes of the side. */
  readonly target: Target;
  readonly url: string;
  /** The tables with queries and counters; the queries first. */
  readonly tables: readonly [string, ...string[]];
}

export interface Sides {
  readonly size: number;
  readonly database: Database;
  readonly ours: Side;
  readonly theirs: Side;
  /** Bytes on disk per query, freshly loaded and vacuumed. */
  readonly bytes: { readonly ours: number; readonly theirs: number };
  readonly importSeconds: number;
  readonly verifySeconds: number;
}

/** Starts both with `size` events. */
export async function startSides(workspace: Workspace, server: PostgresServer, size: number): Promise<Sides> {
  const events = () => makeEvents(size, size);
  const file = workspace.path(`${size}.ndjson`);
  await writeNdjson(file, events());

  const ourUrl = await createDatabase(server, `ours_${size}`);
  const database = await Database.create(workspace, `ours-${size}`, ourUrl);
  const importSeconds = await database.import(file, size);
  const key = await database.createAdminKey();
  const theirUrl = await createDatabase(server, `theirs_${size}`);
  await using(theirUrl, (client) => fillTables(client, key, events()));
  for (const url of [ourUrl, theirUrl]) await vacuum(url);
  const verifySeconds = await database.verify();

  const common = {
    databasePid: server.pid,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  };
  const nodes = await Promise.all(Array.from({ length: nodesMax }, () => database.serve()));
  const sides = {
    size,
    database,
    importSeconds,
    verifySeconds,
    ours: {
      target: { servers: nodes, ...common },
      url: ourUrl,
      tables: ['caller_stats.query', 'caller_stats.caller_type_counter', 'caller_stats.caller_counter'],
    },
    theirs: {
      target: { servers: [await serveTables(workspace, theirUrl)], ...common },
      url: theirUrl,
      tables: ['queries'],
    },
  } satisfies Omit<Sides, 'bytes'>;
  return {
    ...sides,
    bytes: { ours: await bytesPerQuery(sides.ours), theirs: await bytesPerQuery(sides.theirs) },
  };
}

async function bytesPerQuery({ url, tables }: Side): Promise<number> {
  const { rows, bytes } = await readSize(url, tables);
  return bytes / rows;
}

export function buildPaths(bounds: Bounds): string[] {
  return makeRanges(bounds).map(
    (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, bounds)}`,
  );
}

/** Compares all answers of every process with a recount. */
export async function requireSameAnswers({ size, ours, theirs }: Sides): Promise<void> {
  const events = toColumns(makeEvents(size, size), size);
  for (const bounds of BOUNDS) {
    const expected = recount(events, makeRanges(bounds));
    if (bounds === 'day') deepStrictEqual(expected[0]?.total, size);
    for (const [index, path] of buildPaths(bounds).entries()) {
      for (const { servers, headers } of [ours.target, theirs.target]) {
        for (const { url } of servers) {
          const response = await fetch(url + path, { headers });
          deepStrictEqual(await response.json(), expected[index], `${size} events, ${url}${path}`);
        }
      }
    }
  }
}
