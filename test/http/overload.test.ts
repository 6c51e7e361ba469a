/** What a server refuses when it has too much to do: with 503, not recorded, and nobody else held up. */
import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorOf, QUERIES, type Service, STATS, startService } from '../support/http.js';

const json = { 'content-type': 'application/json' };
const query = (id: string) => ({ id, caller: 'web' });

/** Holds recordings in the store until they are released. */
function holdRecordings(service: Service) {
  const gate = new EventEmitter();
  let held = true;
  let waiting = 0;
  service.watched.before = async (method) => {
    if (method !== 'record' || !held) return;
    waiting++;
    gate.emit('reached');
    await once(gate, 'release');
  };
  return {
    reached: async (howMany: number) => {
      while (waiting < howMany) await once(gate, 'reached');
    },
    release: () => {
      held = false;
      gate.emit('release');
    },
  };
}

/** The head of a recording request whose body is to come. */
function headOf(service: Service, bytes: number, more = ''): string {
  return (
    `POST ${QUERIES} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${service.keys.recording}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n${more}\r\n`
  );
}

describe('where as many recordings are under way as may be', () => {
  test('one more is refused and not recorded, reads and probes are answered, and those under way are finished', async () => {
    const service = await startService({ limits: { recordingsMax: 2 } });
    const hold = holdRecordings(service);
    const accepted = [service.record(query('a')), service.record(query('b'))];
    await hold.reached(2);

    const refused = await service.record(query('c'));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(errorOf(refused)).toBe('Too many recordings at once; send the request again.');
    for (const path of ['/v1/traces', '/v1/logs', '/v1/metrics']) {
      const answer = await service.send({ method: 'POST', path, headers: json, body: '{}' });
      expect(answer.status, path).toBe(503);
    }
    for (const path of [STATS, '/livez', '/readyz', '/openapi.json'])
      expect((await service.send({ path })).status, path).toBe(200);
    expect((await service.send({ method: 'PUT', path: QUERIES })).status).toBe(405);

    hold.release();
    for (const answer of await Promise.all(accepted))
      expect(JSON.parse(answer.text)).toEqual({ recorded: 1, duplicates: 0 });
    expect((await service.store.verify()).queries).toBe(2);
    expect(JSON.parse((await service.record(query('c'))).text)).toEqual({ recorded: 1, duplicates: 0 });
  });

  test('refusing many writes a line, not a line each', async () => {
    const service = await startService({ limits: { recordingsMax: 1 } });
    const hold = holdRecordings(service);
    const accepted = service.record(query('a'));
    await hold.reached(1);
    const refused = await Promise.all(Array.from({ length: 50 }, () => service.record(query('b'))));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    const lines = service.log().split('\n');
    expect(lines.filter((line) => line.includes('requests are refused'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('request failed'))).toEqual([]);
    hold.release();
    await accepted;
  });

  test('a sender that is gone leaves its place', async () => {
    const service = await startService({ limits: { recordingsMax: 1 } });
    const connection = await service.connect();
    connection.write(headOf(service, 100));
    while (service.calls.length === 0) await setImmediate();
    expect((await service.record(query('a'))).status).toBe(503);
    connection.close();
    while ((await service.record(query('b'))).status !== 200) await setImmediate();
  });
});

describe('where the event loop is late', () => {
  const statuses = async ({ send, record }: Service) => [
    (await record(query('a'))).status,
    (await send()).status,
    (await send({ path: '/' })).status,
    (await send({ path: '/livez' })).status,
    (await send({ path: '/readyz' })).status,
  ];

  test('recordings are refused; reads only where it is very late; probes never; and it passes', async () => {
    const service = await startService({ limits: { eventLoopDelayMsMax: 100 } });
    service.eventLoop.delayMs = 101;
    expect(await statuses(service)).toEqual([503, 200, 200, 200, 200]);
    service.eventLoop.delayMs = 401;
    expect(await statuses(service)).toEqual([503, 503, 503, 200, 200]);
    expect((await service.send({ path: '/nowhere' })).status).toBe(503);
    expect(service.calls.filter(({ method }) => method === 'record')).toEqual([]);
    service.eventLoop.delayMs = 100;
    expect(await statuses(service)).toEqual([200, 200, 200, 200, 200]);
  });
});

test('where as many requests are under way as may be, others are refused, but no recording and no probe', async () => {
  const service = await startService({ limits: { requestsMax: 1 } });
  const gate = new EventEmitter();
  const reached = once(gate, 'reached');
  let held = true;
  service.watched.before = async (method) => {
    if (method !== 'count' || !held) return;
    held = false;
    gate.emit('reached');
    await once(gate, 'release');
  };
  const first = service.send();
  await reached;
  const refused = await service.send();
  expect([refused.status, errorOf(refused)]).toEqual([503, 'The server is too busy; try again.']);
  expect((await service.record(query('a'))).status).toBe(200);
  expect((await service.send({ path: '/readyz' })).status).toBe(200);
  gate.emit('release');
  expect((await first).status).toBe(200);
  expect((await service.send()).status).toBe(200);
});

test('more changes at once by way of the dashboard than may be: the others are refused, and no password is hashed for them', async () => {
  const { send } = await startService();
  const body = JSON.stringify({ email: 'somebody@example.com', password: 'a password of theirs' });
  const headers = { ...json, 'sec-fetch-site': 'same-origin' };
  const answers = await Promise.all(
    Array.from({ length: 40 }, () =>
      send({ method: 'POST', path: '/api/sign-in', key: null, headers, body }),
    ),
  );
  const refused = answers.filter(({ status }) => status === 503);
  expect(refused).toHaveLength(8);
  expect((await send()).status).toBe(200);
});

describe('bytes of bodies', () => {
  const large = 200_000;
  const start = () => startService({ limits: { bodyBytesMax: large, recordingBytesMax: 2 * large } });

  test('that have come are counted, those that were announced are not; what is refused makes room', async () => {
    const service = await start();
    const announced = await Promise.all(Array.from({ length: 5 }, () => service.connect()));
    for (const connection of announced) connection.write(headOf(service, large));
    expect((await service.record([query('a')])).status).toBe(200);
    const body = JSON.stringify([query('b')]).padEnd(large);
    expect((await service.record(body)).status).toBe(200);

    for (const connection of announced) connection.write(' '.repeat(large - 1));
    const answer = await Promise.race(
      announced.map((connection) => service.read(connection, { method: 'POST', path: QUERIES })),
    );
    expect([answer.status, errorOf(answer)]).toEqual([
      503,
      'Too many bytes are being received at once; send the request again.',
    ]);
    expect((await service.send()).status).toBe(200);
    for (const connection of announced) connection.close();
    while ((await service.record(body)).status !== 200) await setImmediate();
    expect((await service.store.verify()).queries).toBe(2);
  });

  test('are counted once unpacked', async () => {
    const service = await start();
    const hold = holdRecordings(service);
    const packed = gzipSync(JSON.stringify([query('a')]).padEnd(large));
    const send = () => service.record(packed, { 'content-encoding': 'gzip' });
    const accepted = [send()];
    await hold.reached(1);
    accepted.push(send());
    // Refused while its body is unpacked, or before anything was done for it.
    expect((await Promise.all([send(), send()])).map(({ status }) => status)).toContain(503);
    hold.release();
    expect((await accepted[0])?.status).toBe(200);
    await Promise.all(accepted);
    expect((await send()).status).toBe(200);
  });
});

test('whatever is sent at once, what is acknowledged counts once, what is refused does not, and sent again does', async () => {
  const batches = fc.array(fc.array(fc.nat({ max: 60 }), { minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(batches, fc.integer({ min: 1, max: 6 }), async (sent, recordingsMax) => {
      const ends: (() => Promise<void>)[] = [];
      const service = await startService({ limits: { recordingsMax } }, (end) => ends.unshift(end));
      try {
        const answers = await Promise.all(
          sent.map((ids) => service.record(ids.map((id) => query(`q${id}`)))),
        );
        const acknowledged = new Set<number>();
        for (const [index, { status }] of answers.entries()) {
          expect([200, 503]).toContain(status);
          if (status === 200) for (const id of sent[index] ?? []) acknowledged.add(id);
        }
        const { total } = JSON.parse((await service.send()).text) as { total: number };
        expect(total).toBe(acknowledged.size);
        for (const ids of sent)
          expect((await service.record(ids.map((id) => query(`q${id}`)))).status).toBe(200);
        const all = JSON.parse((await service.send()).text) as { total: number };
        expect(all.total).toBe(new Set(sent.flat()).size);
        expect((await service.store.verify()).differencesTotal).toBe(0);
      } finally {
        for (const end of ends) await end();
      }
    }),
    { numRuns: 8 },
  );
});
