/** Kills, of the database and of nodes, while known events are recorded: each is counted once. */
import { expect, test } from 'vitest';
import { kill } from '../../support/cli/cli.js';
import { Cluster, Load, ownPostgres } from '../../support/postgres/nodes.js';
import { installations, newestPostgres } from '../../support/postgres/postgres-server.js';
import { isDeep } from '../../support/volume.js';

const [older] = installations();
const newest = newestPostgres();

const kills = isDeep ? 20 : 2;
/** Generous: each kill waits for conditions, however slow the machine is. */
const timeoutMs = 1_000_000;
const nodes = 3;
const senders = 4;
const deliveriesBetween = 8;
/** How long a node tries by itself: a fifth of the usual, for it is waited for ten times. */
const deadline = ['--database-timeout-ms', '1000'];

test(
  'counts every query once while PostgreSQL is killed repeatedly, and every node survives',
  async () => {
    const server = await ownPostgres(newest);
    const cluster = await Cluster.start(server.url(), nodes, deadline);
    const load = new Load(cluster, senders);
    const { ledger } = load;
    for (let number = 1; number <= kills; number++) {
      await load.progress(deliveriesBetween);
      const failuresBefore = ledger.failures;
      expect(load.inFlight()).toBeGreaterThan(0);
      await server.kill();
      // Away for longer than a node tries by itself, every other time.
      if (number % 2 === 0) await load.until(() => ledger.failures > failuresBefore + senders);
      await server.start();
    }
    await load.progress(deliveriesBetween);
    await load.finish();
    expect(ledger.outcomes).toEqual(new Set(['200', '503']));
    await cluster.expectExactly(ledger);
    await cluster.expectStops();
  },
  timeoutMs,
);

test(
  'counts every query once while nodes are killed repeatedly',
  async () => {
    const server = await ownPostgres(older);
    const cluster = await Cluster.start(server.url(), nodes);
    const load = new Load(cluster, senders);
    const { ledger } = load;
    for (let number = 0; number < kills; number++) {
      const [victim] = cluster.nodes;
      if (victim === undefined) throw new Error('there is no node');
      const successor = cluster.startNode();
      await load.progress(deliveriesBetween);
      await load.until(() => load.inFlight(victim) > 0);
      const failuresBefore = ledger.failures;
      kill(victim.pid, 'SIGKILL');
      await load.until(() => ledger.failures > failuresBefore);
      expect(await victim.ended).toMatchObject({ signal: 'SIGKILL' });
      cluster.nodes.shift();
      cluster.nodes.push(await successor);
    }
    await load.progress(deliveriesBetween);
    await load.finish();
    expect(ledger.failures).toBeGreaterThanOrEqual(kills);
    expect([...ledger.outcomes].filter((one) => !['200', '503', 'lost'].includes(one))).toEqual([]);
    await cluster.expectExactly(ledger);
    await cluster.expectStops();
  },
  timeoutMs,
);
