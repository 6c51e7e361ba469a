/** What a process takes of memory: what many senders at once make it keep is bounded, and the whole is what limits.md promises. */
import { existsSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  batchQueriesMax,
  correctionBytesMax,
  correctionPartsMax,
  pastReportsMax,
  queryPartsMax,
  smallPartsMax,
  waitingReportsMax,
} from '../../../src/domain/limits.js';
import { firstRunOf, kill, PROGRAM, startProcess, urlIn } from '../../support/cli/process.js';
import { CALLERS, errorOf, startService } from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';
import { highestResidentBytesOf, promisedBytesMax } from '../../support/resident-memory.js';
import { temporaryFolder } from '../../support/temporary.js';

const CORRECTIONS = '/v1/analytics/docs/assistant/corrections';
const CHANGES = '/v1/analytics/docs/assistant/changes?since=2024-01-01';
const TOO_MANY_BYTES = 'Too many bytes are being received at once; send the request again.';
const json = { 'content-type': 'application/json' };
const lines = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };

const objects = (count: number) => `[${'{},'.repeat(count - 1)}{}]`;
/** A line of NDJSON that is small, and takes a hundred times as much memory as a query. */
const line = (number: number) =>
  `{${Array.from({ length: 100 }, (_, at) => `"${(number * 100 + at).toString(36)}":{}`).join()}}`;
const correction = (ids: string) => `{"id":"c","action":"withdraw","reason":"r","ids":${ids}}`;
const tooManyParts = (max: number) =>
  `The body has more than ${max} brackets, commas and colons; send less at a time.`;

describe('a body is refused that would take far more memory than it has bytes:', () => {
  test('lines that are each within the limit of one, but not all together', async () => {
    const service = await startService();
    const most = batchQueriesMax * queryPartsMax;
    const body = Array.from({ length: most / 300 + 1 }, (_, at) => line(at)).join('\n');
    const answer = await service.record(gzipSync(body), lines);
    expect([answer.status, errorOf(answer)]).toEqual([400, tooManyParts(most)]);
  });

  test('corrections and forms of so many parts', async () => {
    const service = await startService();
    const sent = { method: 'POST', headers: json };
    const large = await service.send({
      ...sent,
      path: CORRECTIONS,
      body: correction(objects(correctionPartsMax)),
    });
    expect([large.status, errorOf(large)]).toEqual([400, tooManyParts(correctionPartsMax)]);
    const small = await service.send({ ...sent, path: '/mcp', body: objects(smallPartsMax) });
    expect([small.status, errorOf(small)]).toEqual([400, tooManyParts(smallPartsMax)]);
  });
});

test('what bodies are parsed to counts until their requests end', async () => {
  // There is room for two bodies of 20,000 bytes, and for what 3,000 parts are parsed to: 136,000 bytes.
  const service = await startService({
    limits: { batchQueriesMax: 200, bodyBytesMax: 20_000, recordingBytesMax: 0 },
  });
  const hold = holdCalls(service, 'record');
  // With 500 parts, 100 queries take 16,000 bytes more than they have.
  const send = (name: string) =>
    service.record(Array.from({ length: 100 }, (_, at) => ({ id: `${name} ${at}`, caller: 'web' })));
  const sent = Array.from({ length: 10 }, (_, at) => send(`${at}`));
  const first = await Promise.race(sent);
  expect([first.status, errorOf(first)]).toEqual([503, TOO_MANY_BYTES]);
  hold.release();
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(5);
  expect((await send('after')).status).toBe(200);
});

test('bodies of corrections have a limit of their own, and are freed with their requests', async () => {
  const service = await startService({ limits: { correctionsBytesMax: 300_000 } });
  const correct = (bytes: number) =>
    service.send({
      method: 'POST',
      path: CORRECTIONS,
      headers: json,
      body: correction('["none"]').padEnd(bytes),
    });
  const refused = await correct(300_001);
  expect([refused.status, errorOf(refused), refused.headers['retry-after']]).toEqual([
    503,
    TOO_MANY_BYTES,
    '1',
  ]);
  for (let time = 0; time < 3; time++) expect((await correct(200_000)).status).toBe(400);
  expect((await service.record([{ id: 'a', caller: 'web' }])).status).toBe(200);
});

test('reports about the past wait for those of their organization, and no other report for them', async () => {
  const service = await startService();
  await service.record({ id: 'a', caller: 'web' });
  const hold = holdCalls(service, 'findPast');
  const made = Array.from({ length: pastReportsMax + waitingReportsMax }, () =>
    service.send({ path: CHANGES }),
  );
  await hold.reached(pastReportsMax);
  const refused = await service.send({ path: CHANGES });
  expect([refused.status, errorOf(refused)]).toEqual([503, 'Too many reports are being made; try again.']);
  expect((await service.send({ path: `${CALLERS}?asOf=2024-01-01` })).status).toBe(503);
  expect((await service.send({ path: CALLERS })).status).toBe(200);
  const rival = { path: CHANGES.replace('docs', 'rival-docs'), key: service.keys.rivalAdmin };
  made.push(service.send(rival));
  await hold.reached(pastReportsMax + 1);
  hold.release();
  expect(new Set((await Promise.all(made)).map(({ status }) => status))).toEqual(new Set([200]));
});

// Only Linux tells how much a process has taken.
test.runIf(existsSync('/proc/self/status'))(
  'a server with the default settings takes no more than limits.md says, whatever many senders send at once',
  async () => {
    const cwd = await temporaryFolder();
    const [command, ...program] = PROGRAM;
    const args = [...program, 'serve', '--port', '0', '--log-level', 'silent'];
    const server = startProcess(command, args, { cwd });
    onTestFinished(() => kill(server.pid, 'SIGKILL'));
    const stdout = await server.printed(/^Documentation: .+\n/m);
    const { project, admin } = firstRunOf({ stdout });
    const base = `${urlIn(stdout)}/v1/analytics/${project}/assistant`;
    const post = async (
      path: string,
      headers: Readonly<Record<string, string>>,
      body: string | Uint8Array<ArrayBuffer>,
    ) => {
      const all = { ...headers, authorization: `Bearer ${admin}` };
      const answer = await fetch(`${base}/${path}`, { method: 'POST', headers: all, body });
      await answer.text();
      return answer.status;
    };
    const packed = gzipSync(Array.from({ length: batchQueriesMax }, (_, at) => line(at)).join('\n'));
    const large = correction(objects(100_000)).padEnd(correctionBytesMax);
    for (const send of [
      () => post('queries', lines, packed),
      () => post('corrections', json, large),
      () => post('imported-counts', lines, packed),
    ]) {
      const statuses = await Promise.all(Array.from({ length: 16 }, send));
      // 408 if the machine is busy.
      expect(statuses.filter((status) => ![400, 408, 503].includes(status))).toEqual([]);
    }
    expect(highestResidentBytesOf(server.pid)).toBeLessThan(promisedBytesMax());
  },
);
