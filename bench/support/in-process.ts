/**
 * Inserts queries in transactions of so many, each on disk when it ends, with the service's own writer but nothing around it:
 * no HTTP, no JSON, no thread. What recording arrays is measured against. Arguments: the file, a project, the first step of
 * live traffic, transactions, queries in each. Prints the seconds, without those that it took to make the queries.
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
