/** The tables of the hand-written alternative with the same events; its server is `hand-written-server.ts`. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { databaseConnectionsMax } from '../../src/domain/limits.js';
import type { Event } from './events.js';
import { projectId } from './service.js';
import { programArguments, type Server, type Workspace } from './workspace.js';

const batchSize = 10_000;

const TABLES = `
  CREATE TABLE api_keys (hash text PRIMARY KEY, expires_at timestamptz);
  CREATE TABLE queries (
    project text NOT NULL, id text NOT NULL, occurred_at timestamptz NOT NULL, caller text NOT NULL,
    PRIMARY KEY (project, id)
  );
  CREATE INDEX queries_by_time ON queries (project, occurred_at) INCLUDE (caller);`;

const INSERT = `INSERT INTO queries (project, id, occurred_at, caller)
  SELECT $1, id, to_timestamp(ms / 1000.0), caller FROM unnest($2::text[], $3::bigint[], $4::text[]) AS sent (id, ms, caller)`;

/** Creates the tables and fills them with events of one project. `key` is the accepted API key. */
export async function fillTables(client: pg.Client, key: string, events: Iterable<Event>): Promise<void> {
  await client.query(TABLES);
  await client.query('INSERT INTO api_keys (hash) VALUES ($1)', [
    createHash('sha256').update(key).digest('hex'),
  ]);
  let batch: Event[] = [];
  const flush = async (): Promise<void> => {
    await client.query(INSERT, [
      projectId,
      batch.map(({ id }) => id),
      batch.map(({ occurredAt }) => occurredAt),
      batch.map(({ caller }) => caller),
    ]);
    batch = [];
  };
  for (const event of events) {
    batch.push(event);
    if (batch.length === batchSize) await flush();
  }
  await flush();
}

/** One process with as many connections as a node of the service. */
export function serveTables(workspace: Workspace, url: string): Promise<Server> {
  return workspace.start([...programArguments('hand-written-server'), url, String(databaseConnectionsMax)]);
}
