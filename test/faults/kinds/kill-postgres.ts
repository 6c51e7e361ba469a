/** The PostgreSQL server, or a node, is killed during recording. */
import { type DatabaseServer, type Fault, killWithin, type Round, underLoad } from '../fault.js';

/** The number of nodes of a world. */
const nodes = 2;
const aMomentMs = 50;

/** Kills the PostgreSQL server, or one of a cluster, and restarts it. No node ends, and all of them recover. */
export function killDatabase(server: DatabaseServer): Fault {
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
        // Sometimes it is away for longer than a node retries.
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
