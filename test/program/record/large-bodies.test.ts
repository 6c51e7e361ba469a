/** Clients can read the response to a request whose body the server does not want. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLingeringClose, type LingerLimits } from '../../../src/http/connection/lingering-close.js';
import { findQuickClients } from '../../support/clients/clients.js';
import { REFUSALS, startRefusing } from '../../support/clients/refusals.js';
import { QUERIES, recordingHead, sharedService, startService } from '../../support/http/http.js';
import { RawConnection } from '../../support/http/http-raw.js';

const megabyte = 1_000_000;
const TOO_LARGE = 'The body is too large; send less at a time.';

describe('a client that sends everything before it reads gets the response:', () => {
  const refusing = startRefusing();
  test.each(REFUSALS)('%s', async (what) => {
    const { status, request } = refusing(what);
    const { host, port, pathname } = new URL(request.url);
    const bytes = Buffer.alloc(12 * megabyte, ' ');
    const chunk = Buffer.concat([
      Buffer.from(`${bytes.length.toString(16)}\r\n`),
      bytes,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    const length = `Content-Length: ${bytes.length}`;
    for (const [framing, body, connection] of [
      [length, bytes, 'keep-alive'],
      ['Transfer-Encoding: chunked', chunk, 'close'],
    ] as const) {
      const client = await RawConnection.open(Number(port));
      const headers = { ...request.headers, Host: host, Connection: connection };
      const lines = Object.entries(headers).map((header) => header.join(': '));
      client.write([`${request.method} ${pathname} HTTP/1.1`, ...lines, framing, '', ''].join('\r\n'));
      await client.writeAll(body);
      const answer = await client.read(request.method);
      expect([answer.status, answer.headers['connection']], framing).toEqual([status, 'close']);
      await client.ended();
      client.close();
    }
  });
});

describe('a client that sends everything before it reads gets the error of', () => {
  const service = sharedService();
  test.each([
    ['invalid data between chunks', 'Transfer-Encoding: chunked', 'zz\r\n', 400],
    ['an Expect that cannot be met', `Content-Length: ${12 * megabyte}\r\nExpect: tea`, '', 417],
    ['headers that are too large', `X: ${'x'.repeat(20_000)}`, '', 431],
  ])('%s', async (_what, header, start, status) => {
    const { connect, read } = service();
    const client = await connect();
    client.write(`${recordingHead(service(), header)}${start}`);
    await client.writeAll(Buffer.alloc(12 * megabyte, ' '));
    const answer = await read(client, { method: 'POST', path: QUERIES, connectionError: true });
    expect(answer.status).toBe(status);
    await client.ended();
  });
});

describe('after Expect: 100-continue', () => {
  /** What the client gets: 100 if the server asks for the body, and the status. */
  async function statusesOf(
    url: string,
    method: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    bytes: number,
  ) {
    const sent = httpRequest(url, {
      method,
      headers: { ...headers, Expect: '100-continue', 'Content-Length': bytes },
    });
    const statuses: (number | undefined)[] = [];
    sent.on('continue', () => {
      statuses.push(100);
      sent.end(body);
    });
    sent.flushHeaders();
    const [response] = await once(sent, 'response');
    statuses.push(response.statusCode);
    response.resume();
    await once(response, 'end');
    sent.destroy();
    return { statuses, connection: response.headers.connection };
  }

  const refusing = startRefusing();
  test.each(REFUSALS)('the body is not asked for: %s', async (what) => {
    const { status, request } = refusing(what);
    const { url, method, headers } = request;
    const got = await statusesOf(url, method, headers, '', 12 * megabyte);
    expect(got).toEqual({ statuses: [status], connection: 'close' });
  });

  test('the server asks for a body of any size and records it', async () => {
    const service = await startService();
    const url = (await service.origin()) + QUERIES;
    const headers = { Authorization: `Bearer ${service.keys.recording}`, 'Content-Type': 'application/json' };
    for (const length of [0, megabyte]) {
      const body = JSON.stringify({ id: `of ${length}`, caller: 'web' }).padEnd(length);
      const got = await statusesOf(url, 'POST', headers, body, body.length);
      expect(got).toEqual({ statuses: [100, 200], connection: 'keep-alive' });
    }
    expect((await service.store.maintenance.verify()).queries).toBe(2);
  });
});

test('an unknown route returns 404 whatever the body', async () => {
  const { send } = await startService();
  const headers = { 'content-type': 'application/json' };
  for (const body of ['{', ' '.repeat(11 * megabyte)])
    expect(await send({ method: 'POST', path: '/nowhere', headers, body })).toMatchObject({ status: 404 });
});

test('the clients of this machine read a 413', async () => {
  const { clients, missing } = findQuickClients();
  if (missing.length > 0)
    process.stderr.write(`Not tried, because this machine does not have it: ${missing.join(', ')}.\n`);
  const service = await startService({ logLevel: 'info' });
  const url = (await service.origin()) + QUERIES;
  const headers = { Authorization: `Bearer ${service.keys.recording}`, 'Content-Type': 'application/json' };
  const requests = (['length', 'chunked'] as const).flatMap((framing) =>
    [headers, { ...headers, Connection: 'close' }].map((one) => ({
      ...{ method: 'POST', url, headers: one, framing, bytes: 11 * megabyte },
    })),
  );
  const answers = await Promise.all(
    clients.map(async ({ name, send }) => [name, await send(requests)] as const),
  );
  const expected = { status: 413, body: JSON.stringify({ error: TOO_LARGE }) };
  expect(answers).toEqual(clients.map(({ name }) => [name, requests.map(() => expected)]));
});

describe('a lingering connection is closed', () => {
  const limits = { connectionsMax: 10, bytesMax: 1_000_000_000, timeoutMs: 60_000 };

  /** A server that says goodbye to each connection. Opens one and returns both ends of it. */
  async function startServer(own: Partial<LingerLimits>) {
    const close = createLingeringClose({ ...limits, ...own });
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.end('bye');
      close(socket);
    });
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return async (): Promise<{ here: Socket; there: Socket }> => {
      const here = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      onTestFinished(() => void here.destroy());
      here.on('error', () => {});
      const [there] = (await once(server, 'connection')) as [Socket];
      return { here, there };
    };
  }

  test('when the client closes it', async () => {
    const { here, there } = await (await startServer({}))();
    here.end('late');
    await once(there, 'close');
    expect(there.bytesRead).toBe(4);
  });

  test('after a number of bytes', async () => {
    const { here, there } = await (await startServer({ bytesMax: 1000 }))();
    here.write(Buffer.alloc(1001));
    await once(there, 'close');
    expect(there.bytesRead).toBe(1001);
  });

  test('after a time, although the client goes on sending', async () => {
    const { here, there } = await (await startServer({ timeoutMs: 100 }))();
    const sending = setInterval(() => here.write('x'), 1);
    await once(there, 'close');
    clearInterval(sending);
  });

  test('at once if there are too many', async () => {
    const open = await startServer({ connectionsMax: 1 });
    const first = await open();
    const second = await open();
    if (!second.there.destroyed) await once(second.there, 'close');
    expect(first.there.destroyed).toBe(false);
    first.here.end();
    await once(first.there, 'close');
    const third = await open();
    third.here.write('x');
    await once(third.there, 'data');
    expect(third.there.destroyed).toBe(false);
  });
});
