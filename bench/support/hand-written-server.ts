/**
 * What an engineer would write by hand for the same job: one table with a covering index, `GROUP BY`, Express, and a
 * connection pool with prepared statements. Same paths, key check and answers. Arguments: the database URL and the size
 * of the pool. `bench/support/hand-written.ts` creates the tables.
 */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';

const [url = '', connectionsMax = '10'] = process.argv.slice(2);
const pool = new pg.Pool({
  connectionString: url,
  max: Number(connectionsMax),
  // With more clients than cores, parallel workers cost a third of the count's processor time.
  options: '-c max_parallel_workers_per_gather=0',
});

const FIND_KEY = {
  name: 'find-key',
  text: 'SELECT 1 FROM api_keys WHERE hash = $1 AND (expires_at IS NULL OR expires_at > now())',
};
const COUNT = {
  name: 'count',
  text: `SELECT caller, count(*) AS count FROM queries
    WHERE project = $1 AND occurred_at >= $2 AND occurred_at < $3 GROUP BY caller`,
};
const RECORD = {
  name: 'record',
  text: `INSERT INTO queries (project, id, occurred_at, caller)
    SELECT $1, id, occurred_at, caller FROM unnest($2::text[], $3::timestamptz[], $4::text[]) AS sent (id, occurred_at, caller)
    ON CONFLICT (project, id) DO NOTHING`,
};

interface Query {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

const app = express();
app.disable('x-powered-by');
app.disable('etag');

app.use(async (request, response, next) => {
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const hash = createHash('sha256').update(key).digest('hex');
  const { rowCount } = await pool.query({ ...FIND_KEY, values: [hash] });
  if (rowCount === 1) next();
  else response.status(401).json({ error: 'unknown key' });
});

app.get('/v1/analytics/:project/assistant/caller-stats', async (request, response) => {
  const from = new Date(String(request.query['dateFrom']));
  const to = new Date(String(request.query['dateTo']));
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) {
    response.status(400).json({ error: 'dateFrom and dateTo must be dates' });
    return;
  }
  const values = [request.params.project, from.toISOString(), to.toISOString()];
  const { rows } = await pool.query<{ caller: string; count: string }>({ ...COUNT, values });
  const counts = { web: 0, api: 0, other: 0, total: 0 };
  for (const { caller, count } of rows) {
    counts[caller === 'web' || caller === 'api' ? caller : 'other'] += Number(count);
    counts.total += Number(count);
  }
  response.json(counts);
});

app.post(
  '/v1/analytics/:project/assistant/queries',
  express.json({ limit: '10mb' }),
  async (request, response) => {
    const queries: unknown[] = Array.isArray(request.body) ? request.body : [request.body];
    if (!queries.every(isQuery)) {
      response.status(400).json({ error: 'each query needs an id, a caller and a time' });
      return;
    }
    const { rowCount } = await pool.query({
      ...RECORD,
      values: [
        request.params.project,
        queries.map(({ id }) => id),
        queries.map(({ occurredAt }) => occurredAt),
        queries.map(({ caller }) => caller),
      ],
    });
    const recorded = rowCount ?? 0;
    response.json({ recorded, duplicates: queries.length - recorded });
  },
);

function isQuery(value: unknown): value is Query {
  if (typeof value !== 'object' || value === null) return false;
  const { id, caller, occurredAt } = value as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    id.length >= 1 &&
    id.length <= 128 &&
    typeof caller === 'string' &&
    /^[a-z0-9._-]{1,64}$/.test(caller) &&
    typeof occurredAt === 'string' &&
    !Number.isNaN(Date.parse(occurredAt))
  );
}

const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
