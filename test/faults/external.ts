/** A database that a run did not start: a server, or a Citus cluster. Commands kill and start one of its servers. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import pg from 'pg';
import type { DatabaseServer } from './fault.js';
import { World } from './world.js';
import type { Worlds } from './worlds.js';

export function serverOfCommands(kill: string, start: string): DatabaseServer {
  return { kill: () => runCommand(kill), start: () => runCommand(start) };
}

/** Each world has a schema of its own, distributed if the database has Citus, and dropped at the end. */
export async function worldsIn(databaseUrl: string): Promise<Worlds> {
  const [extension] = await query(databaseUrl, "SELECT FROM pg_extension WHERE extname = 'citus'");
  const schemas: string[] = [];
  return {
    next: () => {
      const schema = `faults_${randomBytes(8).toString('hex')}`;
      schemas.push(schema);
      const url = new URL(databaseUrl);
      url.searchParams.set('schema', schema);
      return World.create(url.href, { distribute: extension !== undefined });
    },
    end: async () => {
      for (const schema of schemas) await query(databaseUrl, `DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    },
  };
}

/** Does not wait for the end of its output, which a server that it starts may share. */
async function runCommand(command: string): Promise<void> {
  const [status] = await once(spawn(command, { shell: true, stdio: 'inherit' }), 'exit');
  if (status !== 0) throw new Error(`${command} ended with status ${status}`);
}

async function query(databaseUrl: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
