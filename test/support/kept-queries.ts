/** The queries in the databases, spools and backups of earlier versions (`test/samples`). */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Query } from '../../src/domain/queries/query.js';

export const keptQueriesFile = fileURLToPath(new URL('../samples/schemas/queries.ndjson', import.meta.url));

interface Line {
  readonly id: string;
  readonly caller: string;
  readonly occurredAt: string;
}

/** As they are written in the file. */
export const keptLines: readonly Line[] = readFileSync(keptQueriesFile, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);

export const keptQueries: readonly Query[] = keptLines.map(({ occurredAt, ...query }) => ({
  ...query,
  occurredAt: Date.parse(occurredAt),
}));
