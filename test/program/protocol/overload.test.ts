/** Load shedding: an overloaded server returns 503, records nothing of the request and serves the others. */
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { reportsMax, reportWaitMsMax, waitingReportsMax } from '../../../src/domain/limits.js';
import {
  CALLERS,
  errorOf,
  QUERIES,
  recordingHead,
  type Service,
  STATS,
  startService,
} from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';
import { holdCalls } from '../../support/http/http-store.js';

const json = { 'content-type': 'application/json' };
const query = (id: string) => ({ id, caller: 'web' });

describe('at the limit of concurrent recordings', () => {
  test('another recording is rejected, while reads and probes work and running recordings finish', async () => {
    const service = await startService({ limits: { recordingsMax: 2 } });
    const hold = holdCalls(service, 'record');
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
    expect((await service.store.maintenance.verify()).queries).toBe(2);
    expect(JSON.parse((await service.record(query('c'))).text)).toEqual({ recorded: 1, duplicates: 0 });
  });

  test('many rejections write one line to the log', async () => {
    const service = await startService({ limits: { recordingsMax: 1 } });
    const hold = holdCalls(service, 'record');
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

  test('a disconnected client no longer counts', async () => {
    const service = await startService({ limits: { recordingsMax: 1 } });
    const connection = await service.connect();
    connection.write(recordingHead(service, 'Content-Length: 100'));
    while (service.calls.length === 0) await setImmediate();
    expect((await service.record(query('a'))).status).toBe(503);
    connection.close();
    while ((await service.record(query('b'))).status !== 200) await setImmediate();
  });
});

describe('if the event loop is delayed', () => {
  const statuses = async ({ send, record }: Service) => [
    (await record(query('a'))).status,
    (await send()).status,
    (await send({ path: '/' })).status,
    (await send({ path: '/livez' })).status,
    (await send({ path: '/readyz' })).status,
  ];

  test('recordings are rejected first, reads later, probes never, until the delay ends', async () => {
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

test('at the limit of concurrent requests, reads are rejected, but no recordings or probes', async () => {
  const service = await startService({ limits: { requestsMax: 1 } });
  const hold = holdCalls(service, 'count');
  const first = service.send();
  await hold.reached();
  const refused = await service.send();
  expect([refused.status, errorOf(refused)]).toEqual([503, 'The server is too busy; try again.']);
  expect((await service.record(query('a'))).status).toBe(200);
  expect((await service.send({ path: '/readyz' })).status).toBe(200);
  hold.release();
  expect((await first).status).toBe(200);
  expect((await service.send()).status).toBe(200);
});

describe('the limit of received bytes', () => {
  const large = 200_000;
  const start = () =>
    startService({ limits: { bodyBytesMax: large, recordingBytesMax: 2 * large, batchQueriesMax: 10 } });

  test('counts received bytes, not announced ones, and frees those of rejected requests', async () => {
    const service = await start();
    const announced = await Promise.all(Array.from({ length: 5 }, () => service.connect()));
    for (const connection of announced) connection.write(recordingHead(service, `Content-Length: ${large}`));
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
    expect((await service.store.maintenance.verify()).queries).toBe(2);
  });

  test('counts decompressed bytes', async () => {
    const service = await start();
    const hold = holdCalls(service, 'record');
    const packed = gzipSync(JSON.stringify([query('a')]).padEnd(large));
    const send = () => service.record(packed, { 'content-encoding': 'gzip' });
    const accepted = send();
    await hold.reached(1);
    const others = [send(), send(), send()];
    // Rejected before or during decompression; which of them is there first is not said.
    expect((await Promise.race(others)).status).toBe(503);
    hold.release();
    expect((await accepted).status).toBe(200);
    await Promise.all(others);
    expect((await send()).status).toBe(200);
  });
});

describe('reports that wait for others', () => {
  const refusal = 'Too many reports are being made; try again.';

  async function busy() {
    const service = await startService();
    const hold = holdCalls(service, 'countCallers');
    const ask = () => service.send({ path: CALLERS });
    const made = Array.from({ length: reportsMax }, ask);
    await hold.reached(reportsMax);
    return { ...service, hold, ask, made };
  }

  const statusesOf = async (answers: readonly Promise<Answer>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  test('are refused beyond their number; one whose client has gone makes room, and is not made', async () => {
    const { hold, ask, made, connect, connections, keys, watched } = await busy();
    const others = await connections();
    const gone = await connect();
    gone.write(`GET ${CALLERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${keys.admin}\r\n\r\n`);
    const asked = () => watched.calls.filter(({ method }) => method === 'findAccess').length;
    while (asked() <= reportsMax) await setImmediate();
    const waiting = Array.from({ length: waitingReportsMax - 1 }, ask);
    const refused = await ask();
    expect([refused.status, errorOf(refused)]).toEqual([503, refusal]);
    gone.close();
    while ((await connections()) > others) await setImmediate();
    const inItsPlace = ask();
    expect((await ask()).status).toBe(503);
    hold.release();
    expect(new Set(await statusesOf([...made, ...waiting, inItsPlace]))).toEqual(new Set([200]));
    const reports = watched.calls.filter(({ method }) => method === 'countCallers');
    expect(reports).toHaveLength(reportsMax + waitingReportsMax);
  });

  test('are refused once they have waited for too long', async () => {
    const { hold, ask, made } = await busy();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const late = ask();
    while (vi.getTimerCount() === 0) await setImmediate();
    vi.advanceTimersByTime(reportWaitMsMax);
    expect(errorOf(await late)).toBe('Other reports took too long; try again.');
    hold.release();
    expect(await statusesOf(made)).toEqual(made.map(() => 200));
  });
});
