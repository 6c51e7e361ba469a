import type { TestProject } from 'vitest/node';
import { shareTemplates } from '../postgres/postgres-installation.js';
import { installations, startPostgres } from '../postgres/postgres-server.js';

/** A server that runs during the tests. */
export interface ProvidedServer {
  readonly version: string;
  /** The URL of a database for schemas of tests. */
  readonly url: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgresServers: readonly ProvidedServer[];
  }
}

/** Starts a PostgreSQL server of each version before the tests and stops it after them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeTemplates = await shareTemplates();
  const servers = await Promise.all(installations().map((one) => startPostgres(one)));
  project.provide(
    'postgresServers',
    servers.map(({ version, url }) => ({ version, url: url() })),
  );
  return async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await removeTemplates();
  };
}
