/** What the conformance suite cannot see: that a call needs few statements, each of which is a round trip on PostgreSQL. */
import { expect, test } from 'vitest';
import type { QueryKeys } from '../../../../src/domain/queries/query-identity.js';
import { SqlIdentityChanges } from '../../../../src/storage/sql/identities/identity-changes.js';
import { CounterDeltas } from '../../../../src/storage/sqlite/counters/counter-deltas.js';
import { SQLITE } from '../../../../src/storage/sqlite/dialect.js';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import { Statements } from '../../../../src/storage/sqlite/statements.js';
import { SqliteQueryChanges } from '../../../../src/storage/sqlite/writer/query-changes.js';
import { whenOver } from '../../../support/cleanup.js';
import { traceId } from '../../../support/http/telemetry.js';
import { temporaryFolder } from '../../../support/temporary.js';

const spanId = (number: number) => String(number).padStart(16, '0');

test('queries that turn out to be the same are written together', async () => {
  const db = openMigrated(`${await temporaryFolder()}/store.db`);
  whenOver(() => db.close());
  let writes = 0;
  class Counting extends Statements {
    override all<R>(sql: string, values?: readonly unknown[]): R[] {
      if (!/^\s*SELECT/.test(sql)) writes++;
      return super.all<R>(sql, values);
    }
    override run(sql: string, values?: readonly unknown[]): number {
      writes++;
      return super.run(sql, values);
    }
  }
  const dialect = { ...SQLITE, findProjectKey: async () => 1, findRecordedIds: async () => [] };
  const statements = new Counting(db);
  const changes = new SqliteQueryChanges(statements, new CounterDeltas());
  const identities = new SqlIdentityChanges(statements, dialect, changes);
  const identify = async (queries: readonly QueryKeys[]) => {
    const found = queries.map((keys) => ({ keys, caller: 'web', isNamed: true, occurredAt: 1 }));
    const { pending } = await identities.identify('docs', found, 'question', 1);
    return pending;
  };
  const ofTrace = { traceId: traceId(1), service: 'docs' };
  const inner = Array.from({ length: 960 }, (_, at) => ({ ...ofTrace, entrySpanId: spanId(at) }));
  expect(await identify(inner)).toEqual([]);
  const innerSpanIds = (at: number) => [0, 1, 2].map((one) => spanId(3 * at + one));
  const outer = Array.from({ length: 320 }, (_, at) => ({
    ...{ ...ofTrace, entrySpanId: spanId(10_000 + at) },
    innerSpanIds: innerSpanIds(at),
  }));
  writes = 0;
  expect(await identify(outer)).toHaveLength(640);
  expect(writes).toBeLessThan(150);
});
