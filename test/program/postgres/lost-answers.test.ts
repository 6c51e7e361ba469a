/** What was made durable and whose acknowledgement was lost: it is a duplicate when it comes again. */
import { expect, test } from 'vitest';
import { kill } from '../../support/cli/cli.js';
import { startCuttingProxy } from '../../support/postgres/cutting-proxy.js';
import { Cluster, eventually, ownPostgres, waitingForLock } from '../../support/postgres/nodes.js';
import { installations, newestPostgres } from '../../support/postgres/postgres-server.js';
import { knownDelivery, Ledger } from '../../support/storage/ledger.js';
import { onDatabase } from '../../support/storage/store.js';

const [older] = installations();
const newest = newestPostgres();

const events = knownDelivery(1);
const recordedBefore = { recorded: 0, duplicates: events.length };

/** A row once the widest counters hold all of them. */
const counted = `SELECT FROM caller_stats.caller_type_counter WHERE level = 5 HAVING sum(web + api + other) = ${events.length}`;

test('a node repeats a recording whose acknowledgement was lost on the way from the database', async () => {
  const server = await ownPostgres(newest);
  const proxy = await startCuttingProxy(server.port);
  const through = new URL(server.url());
  through.port = String(proxy.port);
  const cluster = await Cluster.start(through.href, 1);
  const [node] = cluster.nodes;
  if (node === undefined) throw new Error('there is no node');
  proxy.cutAnswerTo('caller_stats.record(');
  expect(await cluster.record(node, events)).toEqual({ status: 200, body: recordedBefore });
  expect(proxy.cuts()).toBe(1);
  const ledger = new Ledger();
  ledger.acknowledge(events, recordedBefore);
  await cluster.expectExactly(ledger);
  await cluster.expectStops();
});

test('another node reports duplicates after the recording node was killed', async () => {
  const server = await ownPostgres(older);
  const cluster = await Cluster.start(server.url(), 2);
  const [victim, other] = cluster.nodes;
  if (victim === undefined || other === undefined) throw new Error('there is no node');
  await onDatabase(server.url(), async (client) => {
    // The statement gets as far as this, and waits.
    await client.query('BEGIN; LOCK TABLE caller_stats.caller_type_counter IN SHARE MODE');
    const lost = cluster.record(victim, events);
    await waitingForLock(server);
    kill(victim.pid, 'SIGKILL');
    expect(await lost).toMatchObject({ status: undefined });
    expect(await victim.ended).toMatchObject({ signal: 'SIGKILL' });
    cluster.nodes.shift();
    await client.query('COMMIT');
    await eventually(async () => (await client.query(counted)).rows[0]);
  });
  expect(await cluster.record(other, events)).toEqual({ status: 200, body: recordedBefore });
  const ledger = new Ledger();
  ledger.acknowledge(events, recordedBefore);
  await cluster.expectExactly(ledger);
  await cluster.expectStops();
});
