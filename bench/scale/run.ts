/**
 * `npx tsx bench/scale/run.ts --queries 1e4,1e6,1e8 [--store postgres]` measures what operators do on databases of several sizes, and
 * prints a table. The sizes take turns where load of the machine matters. 1e8 takes more than an hour, and the disk space of
 * three such databases. PostgreSQL needs `pg_dump` of at least its version.
 */
import { parseArgs } from 'node:util';
import { olderPostgres } from '../../test/support/postgres/postgres-server.js';
import { withPostgres } from '../support/postgres.js';
import { asPower } from '../support/report.js';
import { type Workspace, withWorkspace } from '../support/workspace.js';
import { measure } from './measure.js';
import { postgresStore, type Scaled, sqliteStore } from './stores.js';

type Create = (queries: number) => Promise<Scaled>;

const say = (line: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

async function run(workspace: Workspace, sizes: readonly number[], create: Create): Promise<void> {
  const all: Scaled[] = [];
  for (const size of sizes) all.push(await create(size));
  const rows = await measure(workspace, all, say);
  const cells = [['', ...sizes.map(asPower)], ['---', ...sizes.map(() => '---')], ...rows];
  process.stdout.write(`${cells.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
}

const { values } = parseArgs({
  options: { queries: { type: 'string', default: '1e4,1e6' }, store: { type: 'string', default: 'sqlite' } },
});
const sizes = values.queries.split(',').map(Number);
if (sizes.some((size) => !Number.isInteger(size) || size < 1000))
  throw new Error('--queries: numbers from 1000, such as 1e4,1e6');
await withWorkspace((workspace) =>
  values.store === 'postgres'
    ? withPostgres((server) => run(workspace, sizes, postgresStore(workspace, server, say)), olderPostgres())
    : run(workspace, sizes, sqliteStore(workspace, say)),
);
