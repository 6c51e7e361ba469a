/** A server is killed while it records or starts. */
import { type Fault, killWithin, type Round, underLoad } from '../fault.js';

/** Longer than a start takes on an idle machine. */
const startMs = 700;
const aMomentMs = 50;

export const killServer: Fault = {
  name: 'kill-server',
  stores: ['sqlite'],
  run: (round) =>
    underLoad(round, async (load, node) => {
      const { world, draw, tally } = round;
      await load.until(() => load.inFlight > 0);
      const killed = killWithin(round, node.pid, aMomentMs);
      await Promise.all([killed, node.ended.finally(() => world.leave(node))]);
      if (load.inFlight > 0) tally.note('killed with recordings under way');
      if (draw.oneIn(4)) await killStarting(round);
      await world.join();
    }),
};

async function killStarting(round: Round): Promise<void> {
  const starting = round.world.startCommand(['serve', '--port', '0', '--log-level', 'warn']);
  await killWithin(round, starting.pid, startMs);
  await starting.ended;
}
