/** What the conformance suite cannot reach in reasonable time: more requests than may wait. */
import { expect, test } from 'vitest';
import { statesKeptMs, waitingRequestsMax } from '../../../../src/storage/ports/identities.js';
import { SqlWaitingRequests } from '../../../../src/storage/sql/identities/waiting-requests.js';
import { SQLITE } from '../../../../src/storage/sqlite/dialect.js';
import { openMigrated } from '../../../../src/storage/sqlite/migrations/migrate.js';
import { Statements } from '../../../../src/storage/sqlite/statements.js';
import { whenOver } from '../../../support/cleanup.js';
import { traceId } from '../../../support/http/telemetry.js';
import { temporaryFolder } from '../../../support/temporary.js';

const project = 1;
const keysOf = (number: number) => ({ traceId: traceId(number), service: 'docs' });
const request = (number: number) => ({
  keys: { ...keysOf(number), isRequest: true },
  ...{ caller: 'web', isNamed: true, occurredAt: 0 },
});

test('the latest requests of a project wait, each for a day', async () => {
  const db = openMigrated(`${await temporaryFolder()}/store.db`);
  whenOver(() => db.close());
  const waiting = new SqlWaitingRequests(new Statements(db), SQLITE);
  const found = async (number: number, nowMs: number) =>
    (await waiting.findFor(project, [keysOf(number)], nowMs)).map(({ caller }) => caller);
  // The name of the first one comes after all others.
  db.exec('BEGIN');
  await waiting.add(
    project,
    Array.from({ length: waitingRequestsMax }, (_, at) => request(at === 0 ? 15 : 0x10_000 + at)),
    1,
  );
  await waiting.add(2, [request(15)], 0);
  expect(await found(15, 1)).toEqual(['web']);
  // About one in 4,096 removes those beyond the limit.
  await waiting.add(project, [request(0x100_001)], 2);
  expect(await found(15, 2)).toEqual(['web']);
  await waiting.add(project, [request(0x101_000)], 2);
  expect(await found(15, 2)).toEqual([]);
  expect(await found(0x101_000, 1 + statesKeptMs)).toEqual(['web']);
  expect(await found(0x101_000, 2 + statesKeptMs)).toEqual([]);
  expect(await waiting.findFor(2, [keysOf(15)], 2)).toHaveLength(1);
  db.exec('COMMIT');
});
