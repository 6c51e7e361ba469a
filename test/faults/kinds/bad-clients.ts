/** Clients that stall, send slowly, disconnect within a body, or open a thousand connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { scheduler } from 'node:timers/promises';
import { type Fault, type Round, underLoad } from '../fault.js';
import { bodyOf } from '../requests.js';
import type { Node } from '../world.js';

const ofEach = 20;
const idle = 1_000;
const bytesSlowly = 3;
const byteEveryMs = 300;
const someAnswers = 20;

export const badClients: Fault = {
  name: 'bad-clients',
  stores: ['sqlite', 'postgres'],
  run: (round) => {
    // These are never sent completely, so none of them may be counted.
    const unsent = round.blocks(ofEach);
    return underLoad(round, async (load, node) => {
      const { tally } = round;
      const sockets: Socket[] = [];
      try {
        const open = async (howMany: number) => {
          const opened = await Promise.all(Array.from({ length: howMany }, () => connected(node)));
          sockets.push(...opened);
          return opened;
        };
        await open(idle);
        const stalled = await open(ofEach);
        for (const socket of stalled)
          socket.write('POST /v1/analytics/first/assistant/queries HTTP/1.1\r\nHost: a\r\n');
        const slow = await open(ofEach);
        const leaving = await open(ofEach);
        for (const [at, socket] of leaving.entries()) leaveInBody(round, socket, unsent[at] ?? 0);
        for (let sent = 0; sent < bytesSlowly; sent++) {
          for (const socket of slow) socket.write('GET /livez'.charAt(sent));
          await scheduler.wait(byteEveryMs);
        }
        await load.progress(someAnswers);
        tally.note('bad clients at once');
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });
  },
};

/** Sends only part of a body and disconnects. Nothing of it may be recorded. */
function leaveInBody({ world, draw }: Round, socket: Socket, block: number): void {
  const { body, type } = bodyOf({
    project: 'first',
    blocks: [block],
    form: block % 2 === 0 ? 'json' : 'ndjson',
    altered: false,
  });
  const head = [
    'POST /v1/analytics/first/assistant/queries HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${world.keys.steady(block).value}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 1 + draw.below(body.length - 1))}`, () => {
    if (block % 4 < 2) socket.resetAndDestroy();
    else socket.end();
  });
}

async function connected(node: Node): Promise<Socket> {
  const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
  // The server may close the connection.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.resume();
  return socket;
}
