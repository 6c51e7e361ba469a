/**
 * What an engineer would write by hand for the same job on PostgreSQL: a table of queries, counters of each day, one statement to record
 * and `GROUP BY` to count. Same paths and answers, and a look-up of the key for each request. Arguments: the database URL, and a key.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { databaseConnectionsMax } from '../../src/domain/limits.js';

const [url = '', key = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: databaseConnectionsMax });
// The database server may end first.
pool.on('error', () => {});

const TABLES = `
  CREATE TABLE api_key (hash text PRIMARY KEY);
  CREATE TABLE query (
    project text NOT NULL, id text NOT NULL, occurred_at timestamptz NOT NULL, caller text NOT NULL, PRIMARY KEY (project, id)
  );
  CREATE INDEX query_by_time ON query (project, occurred_at) INCLUDE (caller);
  CREATE TABLE counter (
    project text NOT NULL, day date NOT NULL, caller text NOT NULL, queries bigint NOT NULL, PRIMARY KEY (project, day, caller)
  )`;
const FIND_KEY = { name: 'find-key', text: 'SELECT FROM api_key WHERE hash = $1' };
const RECORD = {
  name: 'record',
  text: `WITH recorded AS (
      INSERT INTO query (project, id, occurred_at, caller)
      SELECT $1, id, occurred_at, caller FROM unnest($2::text[], $3::timestamptz[], $4::text[]) AS sent (id, occurred_at, caller)
      ON CONFLICT DO NOTHING RETURNING occurred_at, caller
    ), counted AS (
      INSERT INTO counter AS kept (project, day, caller, queries)
      SELECT $1, (occurred_at AT TIME ZONE 'UTC')::date, caller, count(*) FROM recorded GROUP BY 2, 3 ORDER BY 2, 3
      ON CONFLICT (project, day, caller) DO UPDATE SET queries = kept.queries + excluded.queries
    )
    SELECT count(*)::integer AS recorded FROM recorded`,
};
const COUNT = {
  name: 'count',
  text: `SELECT caller, count(*)::integer AS queries FROM query
    WHERE project = $1 AND occurred_at >= $2 AND occurred_at < $3 GROUP BY caller`,
};

interface Query {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

async function record(project: string, queries: readonly Query[]): Promise<unknown> {
  const columns = (['id', 'occurredAt', 'caller'] as const).map((name) =>
    queries.map((query) => query[name]),
  );
  const { rows } = await pool.query<{ recorded: number }>({ ...RECORD, values: [project, ...columns] });
  const recorded = rows[0]?.recorded ?? 0;
  return { recorded, duplicates: queries.length - recorded };
}

async function count(project: string, asked: URLSearchParams): Promise<unknown> {
  const values = [project, asked.get('dateFrom'), asked.get('dateTo')];
  const { rows } = await pool.query<{ caller: string; queries: number }>({ ...COUNT, values });
  const counts = { web: 0, api: 0, other: 0, total: 0 };
  for (const { caller, queries } of rows) {
    counts[caller === 'web' || caller === 'api' ? caller : 'other'] += queries;
    counts.total += queries;
  }
  return counts;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

const server = createServer(async (request, response) => {
  const hash = hashOf((request.headers.authorization ?? '').replace('Bearer ', ''));
  const { rowCount } = await pool.query({ ...FIND_KEY, values: [hash] });
  const asked = new URL(request.url ?? '/', 'http://localhost');
  const project = asked.pathname.split('/')[3] ?? '';
  const answer =
    rowCount !== 1
      ? undefined
      : request.method === 'POST'
        ? await record(project, [(await json(request)) as Query | Query[]].flat())
        : await count(project, asked.searchParams);
  response.writeHead(answer === undefined ? 401 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
});
await pool.query(TABLES);
await pool.query('INSERT INTO api_key VALUES ($1)', [hashOf(key)]);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
