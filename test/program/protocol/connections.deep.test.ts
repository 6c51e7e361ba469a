/** Thousands of idle and slow connections to a real server. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ServerProcess } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithSample, project, succeed } from '../../support/cli/cli-place.js';
import { residentBytesOf } from '../../support/resident-memory.js';

/** A quarter of them stalls while it records, and another one while it reads: fewer than the server takes of each at a time. */
const connections = 3_600;
const connectionsAtEnd = 1_000;
/** Server memory per connection: buffers, parser and the received part of the request. */
const bytesEachMax = 50_000;

/** What a client does not send or read. */
type Kind = 'idle' | 'slow headers' | 'stalled body' | 'never reads';
const kinds: readonly Kind[] = ['idle', 'slow headers', 'stalled body', 'never reads'];

interface Client {
  readonly kind: Kind;
  readonly socket: Socket;
  received: string;
  closed: boolean;
}

function bytesOf(kind: Kind, key: string): string {
  const authorized = `HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n`;
  const path = `/v1/analytics/${project}/assistant`;
  if (kind === 'slow headers') return 'GET /livez HTTP/1.1\r\nHos';
  if (kind === 'stalled body')
    return `POST ${path}/queries ${authorized}Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n[{"id":"`;
  return kind === 'never reads' ? `GET ${path}/callers ${authorized}\r\n`.repeat(5) : '';
}

/** Opens connections, a few hundred at a time, because the backlog is limited. */
async function open({ url }: ServerProcess, key: string, howMany: number): Promise<Client[]> {
  const port = Number(new URL(url).port);
  const clients: Client[] = [];
  const openOne = async (number: number) => {
    const kind = kinds[number % kinds.length] ?? 'idle';
    const socket = connect(port, '127.0.0.1');
    const client: Client = { kind, socket, received: '', closed: false };
    socket.on('error', () => {});
    socket.once('close', () => {
      client.closed = true;
    });
    await once(socket, 'connect');
    socket.write(bytesOf(kind, key));
    if (kind !== 'never reads')
      socket.setEncoding('utf8').on('data', (text: string) => (client.received += text));
    clients.push(client);
  };
  for (let first = 0; first < howMany; first += 250)
    await Promise.all(Array.from({ length: 250 }, (_, at) => openOne(first + at)));
  onTestFinished(() => {
    for (const { socket } of clients) socket.destroy();
  });
  return clients;
}

test('with 3,600 idle and slow clients the server serves others, disconnects them, limits its memory and stops cleanly', async () => {
  const place = await placeWithSample();
  const key = await makeKey(place, 'admin');
  const server = await place.spawnServer();
  const client = clientOf(server, project, key);
  const { body: before } = await client.count();
  const rssBefore = residentBytesOf(server.pid);

  const clients = await open(server, key, connections);
  for (let number = 0; number < 20; number++) {
    expect(await client.record(batchOf(number, 10))).toMatchObject({ status: 200, body: { recorded: 10 } });
    expect((await client.count()).body.total).toBe(before.total + (number + 1) * 10);
  }
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);

  const slow = clients.filter(({ kind }) => kind !== 'never reads');
  while (slow.some(({ closed }) => !closed)) await setImmediate();
  expect(new Set(slow.map(({ received }) => received.slice(0, 12)))).toEqual(new Set(['HTTP/1.1 408']));
  const rssAfter = residentBytesOf(server.pid);
  if (rssBefore !== undefined && rssAfter !== undefined)
    expect(rssAfter - rssBefore).toBeLessThan(connections * bytesEachMax);
  expect((await client.count()).body.total).toBe(before.total + 200);

  await open(server, key, connectionsAtEnd);
  expect(await server.stop()).toMatchObject({ status: 0, signal: null });
  await succeed(place.run(['verify']));
});
