/** Every request has a deadline: to arrive, to be answered, and its answer to be taken. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { errorOf, QUERIES, SERIES, type Service, STATS, startService } from '../support/http.js';

const soon = { requestTimeoutMs: 200, answerTimeoutMs: 60_000 };
const late = 'The request took too long to arrive.';

const recordingHead = ({ keys }: Service, length: string) =>
  `POST ${QUERIES} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${keys.recording}\r\n` +
  `Content-Type: application/json\r\n${length}\r\n\r\n`;

const readingHead = ({ keys }: Service, path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${keys.admin}\r\n\r\n`;

describe('a request that does not arrive: 408, nothing is recorded, and the connection ends', () => {
  test.each<[what: string, bytes: (service: Service) => string]>([
    ['a part of the first line', () => 'GET /liv'],
    ['headers without end', () => `GET ${STATS} HTTP/1.1\r\nHost: test\r\n`],
    ['no body', (service) => recordingHead(service, 'Content-Length: 25')],
    [
      'a part of a body',
      (service) => `${recordingHead(service, 'Content-Length: 100')}[{"id":"a","caller":"web"}]`,
    ],
    [
      'chunks without end',
      (service) =>
        `${recordingHead(service, 'Transfer-Encoding: chunked')}1b\r\n[{"id":"a","caller":"web"}]\r\n`,
    ],
  ])('%s', async (_what, bytes) => {
    const service = await startService({ limits: soon });
    const connection = await service.connect();
    connection.write(bytes(service));
    const answer = await service.read(connection, { method: 'POST', path: QUERIES, connectionError: true });
    expect([answer.status, errorOf(answer)]).toEqual([408, late]);
    expect(answer.headers['connection']).toBe('close');
    await connection.ended();
    expect((await service.store.verify()).queries).toBe(0);
    expect((await service.record({ id: 'a', caller: 'web' })).status).toBe(200);
  });

  test('bytes that drip in, however many', async () => {
    const service = await startService({ limits: soon });
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

  test('a connection that says nothing at all', async () => {
    const service = await startService({ limits: soon });
    const connection = await service.connect();
    const answer = await service.read(connection, { method: 'GET', path: '/', connectionError: true });
    expect(answer.status).toBe(408);
    await connection.ended();
  });
});

test('an answer that the store does not give in time: 503 that says so, and the next is answered', async () => {
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

describe('answers that nobody reads', () => {
  /** More than any connection holds back by itself. */
  const askForMuch = async (service: Service) => {
    await service.record([{ id: 'a', caller: 'web', occurredAt: '2024-01-01T00:00:00Z' }]);
    const range = 'interval=hour&dateFrom=2024-01-01&dateTo=2025-02-01';
    const request = readingHead(service, `${SERIES}?${range}`);
    const connection = await service.connect();
    connection.write(request.repeat(12));
    return connection;
  };

  test('end their connection', async () => {
    const service = await startService({ limits: { answerTimeoutMs: 200 } });
    const connection = await askForMuch(service);
    while ((await service.connections()) > 0) await setImmediate();
    connection.close();
  });

  test('do not hold up the end of the server, nor do requests that never come whole', async () => {
    const service = await startService();
    const connections = [await askForMuch(service)];
    for (const bytes of ['', 'GET /liv', recordingHead(service, 'Content-Length: 25')]) {
      const connection = await service.connect();
      connection.write(bytes);
      connections.push(connection);
    }
    while ((await service.connections()) < 4) await setImmediate();
    await service.close();
    for (const connection of connections) connection.close();
  });
});

test('connections beyond as many as may be are closed, and those that are open go on', async () => {
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
