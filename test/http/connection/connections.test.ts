import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answerHalfClosed, onFinished } from '../../../src/http/connection/connections.js';

/** A server that answers nothing by itself, and a connection to it. */
async function connected(method = 'GET') {
  const responses: ServerResponse[] = [];
  const ends: string[] = [];
  const changed = new EventTarget();
  const tell = () => changed.dispatchEvent(new Event('change'));
  const server: Server = createServer((request, response) => {
    responses.push(response);
    onFinished(request, response, () => {
      ends.push(request.url ?? '');
      tell();
    });
    tell();
  });
  answerHalfClosed(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket: Socket = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  onTestFinished(async () => {
    socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await once(changed, 'change');
  };
  const ask = async (...paths: string[]) => {
    const before = responses.length;
    socket.write(paths.map((path) => `${method} ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    await until(() => responses.length === before + paths.length);
  };
  return { socket, responses, ends, ask, until };
}

describe('an exchange is finished', () => {
  test('when its response has been sent', async () => {
    const { responses, ends, ask, until } = await connected();
    await ask('/a', '/b');
    responses[0]?.end();
    await until(() => ends.length === 1);
    responses[1]?.end();
    await until(() => ends.length === 2);
    expect(ends).toEqual(['/a', '/b']);
  });

  test('when its connection is closed, even while it waits behind others', async () => {
    const { socket, responses, ends, ask, until } = await connected();
    await ask('/answered', '/a', '/b', '/c');
    responses[0]?.end();
    await until(() => ends.length === 1);
    // Answered, but not sent before the one in front of it.
    responses[2]?.end();
    socket.destroy();
    await until(() => ends.length === 4);
    expect(ends.toSorted()).toEqual(['/a', '/answered', '/b', '/c']);
  });

  test('for any number of exchanges on a connection, with one listener', async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error) => warnings.push(name);
    process.on('warning', warn);
    onTestFinished(() => void process.off('warning', warn));
    const { socket, responses, ends, ask, until } = await connected();
    const paths = Array.from({ length: 50 }, (_, at) => `/${at}`);
    await ask(...paths);
    socket.destroy();
    await until(() => ends.length === 50);
    expect(new Set(ends)).toEqual(new Set(paths));
    expect(warnings).toEqual([]);
    const late: string[] = [];
    const [last] = responses.slice(-1);
    if (last !== undefined) onFinished(last.req, last, () => late.push('late'));
    expect(late).toEqual(['late']);
  });
});

describe('a client that has ended its side of the connection', () => {
  const end = async (socket: Socket, responses: readonly ServerResponse[]) => {
    const [last] = responses.slice(-1);
    if (last === undefined) throw new Error('nothing was asked');
    const ended = once(last.req.socket, 'end');
    socket.end();
    await ended;
  };

  test('gets all its answers if one is not to a read, and then the connection is closed', async () => {
    const { socket, responses, ask } = await connected('PUT');
    await ask('/a', '/b');
    await end(socket, responses);
    responses[1]?.end('second');
    responses[0]?.end('first');
    const answer = (await socket.setEncoding('utf8').toArray()).join('');
    expect(answer).toMatch(/first.*second$/s);
  });

  test('has left if it only reads', async () => {
    const { socket, responses, ends, ask, until } = await connected('HEAD');
    await ask('/a', '/b');
    await end(socket, responses);
    await until(() => ends.length === 2);
    expect(await socket.toArray()).toEqual([]);
  });
});
