/** A server without free file descriptors works with its open files and connections, and accepts new ones afterwards. */
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { type Fault, underLoad } from '../fault.js';

const connections = 100;
const someAnswers = 20;

export const fewDescriptors: Fault = {
  name: 'few-descriptors',
  stores: ['sqlite', 'postgres'],
  run: (round) =>
    underLoad(round, async (load, node) => {
      const { world, draw, tally } = round;
      const limit = (most: number | string) =>
        world.spawn('prlimit', ['--pid', String(node.pid), `--nofile=${most}`]).ended;
      const usual = /Max open files +(\d+) +(\d+)/.exec(readFileSync(`/proc/${node.pid}/limits`, 'utf8'));
      const open = readdirSync(`/proc/${node.pid}/fd`).length;
      await limit(`${open + draw.below(8)}:${usual?.[2]}`);
      const { port } = new URL(node.url);
      const sockets = Array.from({ length: connections }, () => connect(Number(port), '127.0.0.1'));
      try {
        await Promise.all(sockets.map(settled));
        // The connections of the load and the files of the writer are already open.
        await load.progress(someAnswers);
        tally.note('descriptors used up');
      } finally {
        await limit(`${usual?.[1]}:${usual?.[2]}`);
        for (const socket of sockets) socket.destroy();
      }
    }),
};

/** Connected, by the kernel at least, or refused. */
function settled(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('connect', resolve).once('error', () => resolve());
  });
}
