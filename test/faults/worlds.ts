/** Creates worlds: copies of a file, or schemas of a PostgreSQL server. */
import type { PostgresServer } from '../support/postgres/postgres-server.js';
import { World } from './world.js';

export interface Worlds {
  readonly next: () => Promise<World>;
  readonly end: () => Promise<void>;
}

/** Uses the server, or files if there is none. */
export async function worldsOn(server: PostgresServer | undefined): Promise<Worlds> {
  if (server !== undefined) {
    let made = 0;
    return { next: () => World.create(`${server.url()}?schema=faults_${made++}`), end: async () => {} };
  }
  const template = await World.create();
  return { next: () => template.copy(), end: () => template.close() };
}
