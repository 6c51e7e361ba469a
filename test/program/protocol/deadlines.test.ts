/** Deadlines for receiving a request, for handling it, and for sending the response. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  errorOf,
  QUERIES,
  recordingHead,
  SERIES,
  type Service,
  STATS,
  startService,
} from '../../support/http/http.js';

const shortTimeout = { requestTimeoutMs: 200, answerTimeoutMs: 60_000 };
const TOO_LATE = 'The request took too long to arrive.';

const readingHead = ({ keys }: Service, path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${keys.admin}\r\n\r\n`;

describe('an incomplete request returns 408, records nothing and ends the connection:', () => {
  test.each<[what: string, bytes: (service: Service) => string]>([
    ['part of the first line', () => 'GET /liv'],
    ['unfinished headers', () => `GET ${STATS} HTTP/1.1\r\nHost: test\r\n`],
    ['a missing body', (service) => recordingHead(service, 'Content-Length: 25')],
    [
      'part of a body',
      (service) => `${recordingHead(service, 'Content-Length: 100')}[{"id":"a","caller":"web"}]`,
    ],
    [
      'unfinished chunks',
      (service) =>
        `${recordingHead(service, 'Transfer-Encoding: chunked')}1b\r\n[{"id":"a","caller":"web"}]\r\n`,
    ],
  ])('%s', async (_what, bytes) => {
    const service = await startService({ limits: shortTimeout });
    const connection = await service.connect();
    connection.write(bytes(service));
    const answer = await service.read(connection, { method: 'POST', path: QUERIES, connectionError: true });
    expect([answer.status, errorOf(answer)]).toEqual([408, TOO_LATE]);
    expect(answer.headers['connection']).toBe('close');
    await connection.ended();
    expect((await service.store.maintenance.verify()).queries).toBe(0);
    expect((await service.record({ id: 'a', caller: 'web' })).status).toBe(200);
  });

  test('a body that arrives byte by byte', async () => {
    const service = await startService({ limits: shortTimeout });
    const connection = await service.connect();
    connection.write(recordingHead(service, 'Content-Length: 10000000'));
    let answered = false;
    const answer = service.read(connection, { method: 'POST', path: QUERIES, connectionError: true });
    const done = answer.finally(() => {
      answered = true;
    });
    while (!answered) {
      connection.write(' ');
      await setImmediate();
    }
    expect((await done).status).toBe(408);
    connection.close();
  });

  test('a connection without any data', async () => {
    const service = await startService({ limits: shortTimeout });
    const connection = await service.connect();
    const answer = await service.read(connection, { method: 'GET', path: '/', connectionError: true });
    expect(answer.status).toBe(408);
    await connection.ended();
  });
});

test('returns 503 if the store does not answer in time, and serves the next request', async () => {
  const service = await startService({ limits: { requestTimeoutMs: 100, answerTimeoutMs: 100 } });
  const never = new Promise<void>(() => {});
  service.watched.before = (method) =>
    method === 'record' || method === 'count' ? never : Promise.resolve();
  const body = '{"id":"a","caller":"web"}';
  const recording = recordingHead(service, `Content-Length: ${body.length}`) + body;
  for (const bytes of [recording, readingHead(service, STATS)]) {
    const answer = await service.sendRaw(bytes);
    expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1']);
    expect(errorOf(answer)).toContain('could not answer in time; try again');
  }
  service.watched.before = async () => undefined;
  expect((await service.record({ id: 'a', caller: 'web' })).status).toBe(200);
});

describe('responses that the client does not read', () => {
  /** Requests responses that exceed all buffers of the connection. */
  const requestManyResponses = async (service: Service) => {
    await service.record([{ id: 'a', caller: 'web', occurredAt: '2024-01-01T00:00:00Z' }]);
    const range = 'interval=hour&dateFrom=2024-01-01&dateTo=2025-02-01';
    const request = readingHead(service, `${SERIES}?${range}`);
    const connection = await service.connect();
    connection.write(request.repeat(12));
    return connection;
  };

  test('end their connection', async () => {
    const service = await startService({ limits: { answerTimeoutMs: 200 } });
    const connection = await requestManyResponses(service);
    while ((await service.connections()) > 0) await setImmediate();
    connection.close();
  });

  test('do not delay the end of the server, nor do incomplete requests', async () => {
    const service = await startService();
    const connections = [await requestManyResponses(service)];
    const heads = ['Content-Length: 25', 'Content-Length: 100000000'].map((length) =>
      recordingHead(service, length),
    );
    for (const bytes of ['', 'GET /liv', ...heads]) {
      const connection = await service.connect();
      connection.write(bytes);
      connections.push(connection);
    }
    while ((await service.connections()) < 5) await setImmediate();
    await service.close();
    for (const connection of connections) connection.close();
  });
});

test('connections over the limit are closed, and the open ones keep working', async () => {
  const service = await startService({ limits: { connectionsMax: 2 } });
  const open = [await service.connect(), await service.connect()];
  const ask = 'GET /livez HTTP/1.1\r\nHost: test\r\n\r\n';
  open[0]?.write(ask);
  const [first] = open;
  if (first === undefined) throw new Error('no connection');
  expect((await service.read(first, { method: 'GET', path: '/livez' })).status).toBe(200);
  const more = await service.connect();
  await more.ended().catch(() => {});
  first.write(ask);
  expect((await service.read(first, { method: 'GET', path: '/livez' })).status).toBe(200);
  for (const connection of open) connection.close();
});
