/**
 * Inserts queries in durable transactions with the service's writer alone, without HTTP, JSON or threads: the baseline
 * for recording arrays. Arguments: the file, a project, the first step of live traffic, the number of transactions and
 * the queries in each. Prints the seconds, excluding the generation of queries.
 */
import { openMigrated } from '../../src/storage/sqlite/migrations/migrate.js';
import { Writer } from '../../src/storage/sqlite/writer/writer.js';
import { liveQueries } from './recording.js';

const [file = '', projectId = '', ...numbers] = process.argv.slice(2);
const [first = 0, transactions = 0, size = 0] = numbers.map(Number);

const batches = Array.from({ length: transactions }, (_, at) => liveQueries(first + at * size, size));
const operations = batches.map((queries) => ({
  kind: 'record' as const,
  projectId,
  ids: queries.map(({ id }) => id),
  callers: queries.map(({ caller }) => caller),
  occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
}));
const db = openMigrated(file);
const writer = new Writer(db);
const begin = performance.now();
for (const operation of operations) {
  const [outcome] = await writer.commit([operation]);
  if (outcome?.ok !== true) throw new Error('not recorded');
}
const seconds = (performance.now() - begin) / 1000;
db.close();
process.stdout.write(JSON.stringify({ seconds }));
