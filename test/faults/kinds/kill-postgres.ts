/** SIGKILL of the PostgreSQL server, all of its processes, and of nodes that work on it, while they record. */
import type { PostgresServer } from '../../support/postgres-server.js';
import { type Fault, killWithin, type Round, underLoad } from '../fault.js';

/** Nodes of a world on PostgreSQL. */
const nodes = 2;
const aMomentMs = 50;

/** Kills the server of the database, and starts it again: no node ends for it, and each answers by itself. */
export function killDatabase(server: PostgresServer): Fault {
  return {
    name: 'kill-database',
    stores: ['postgres'],
    run: async (round) => {
      await enoughNodes(round);
      await underLoad(round, async (load) => {
        const { world, draw, tally } = round;
        await load.until(() => load.inFlight > 0);
        const before = load.failed;
        await server.kill();
        tally.kills++;
        if (load.inFlight > 0) tally.note('killed with recordings under way');
        // Away for longer than a node tries by itself, now and then.
        if (draw.oneIn(4)) await load.until(() => load.failed > before + nodes);
        await server.start();
        if (world.nodes.length !== nodes) world.problems.push('a node ended with its database');
      });
    },
  };
}

export const killNode: Fault = {
  name: 'kill-node',
  stores: ['postgres'],
  run: async (round) => {
    await enoughNodes(round);
    await underLoad(round, async (load) => {
      const { world, tally, draw } = round;
      const victim = draw.pick(world.nodes);
      await load.until(() => load.inFlight > 0);
      await killWithin(round, victim.pid, aMomentMs);
      world.leave(victim);
      if (load.inFlight > 0) tally.note('killed with recordings under way');
      await victim.ended;
      await world.join();
    });
  },
};

async function enoughNodes({ world }: Round): Promise<void> {
  while (world.nodes.length < nodes) await world.join();
}
