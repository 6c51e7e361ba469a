/** Exports of the recorded queries: over HTTP, and with the command. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import {
  makeKey,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { QUERIES, type Service, startMs, startService } from '../../support/http/http.js';
import { databases } from '../../support/storage/store.js';

const EVENTS = [
  { id: 'b', caller: 'slack', occurredAt: '2026-03-02T23:30:00.000Z' },
  { id: 'a,"1"', caller: 'web', occurredAt: '2026-03-01T12:00:00.000Z' },
  { id: '=1+1', caller: 'slack', occurredAt: '1969-12-31T23:59:59.999Z' },
];

const TODAY = new Date(startMs).toISOString().slice(0, 10);

const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8';
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

describe.each(databases)('%s: GET queries', (_kind, newDatabase) => {
  const service = sharedByTests(async () => {
    const started = await startService({ database: newDatabase() }, whenOver);
    await started.record(EVENTS);
    return started;
  });

  test('refuses keys that are not admin keys, and wrong parameters', async () => {
    const { send, keys, addKey } = service();
    const reading = await addKey('reads-docs', { type: 'reading', projectId: 'docs' });
    for (const key of [keys.recording, reading, null])
      expect((await send({ path: QUERIES, key })).status, String(key).slice(0, 8)).toBe(401);
    const answer = await send({
      path: `${QUERIES}?dateFrom=soon&compare=previous&caller=A&recordedTo=2026-03-01T12:00Z`,
    });
    expect(answer.status).toBe(400);
    for (const named of ['dateFrom', 'compare', 'caller', 'recordedTo']) expect(answer.text).toContain(named);
    expect((await send({ path: QUERIES.replace('docs', 'none') })).status).toBe(404);
  });

  test('returns every query as NDJSON', async () => {
    const answer = await service().send({ path: QUERIES });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, NDJSON_TYPE]);
    const rows = answer.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    const arrived = { recordedOn: TODAY, recordedBy: expect.stringMatching(/^key:\w/) as unknown };
    expect(rows).toHaveLength(EVENTS.length);
    expect(rows).toEqual(expect.arrayContaining(EVENTS.map((event) => ({ ...event, ...arrived }))));
  });

  test('returns CSV with exactly the ids that were recorded', async () => {
    const answer = await service().send({
      path: `${QUERIES}?dateTo=2026-03-02`,
      headers: { accept: 'text/csv' },
    });
    expect([answer.headers['content-type'], answer.headers['vary']]).toEqual([CSV_TYPE, 'Accept']);
    const [sender = ''] = /key:[\w-]+/.exec(answer.text) ?? [];
    expect(answer.text.split('\r\n').toSorted()).toEqual([
      '',
      `"a,""1""",web,2026-03-01T12:00:00.000Z,${TODAY},${sender}`,
      `=1+1,slack,1969-12-31T23:59:59.999Z,${TODAY},${sender}`,
      'id,caller,occurredAt,recordedOn,recordedBy',
    ]);
    const head = await service().send({ method: 'HEAD', path: QUERIES, headers: { accept: 'text/csv' } });
    expect([head.status, head.headers['content-type']]).toEqual([200, CSV_TYPE]);
  });

  test.each([
    ['?caller=slack', ['=1+1', 'b']],
    ['?dateFrom=2026-03-03&timeZone=Europe/Berlin', ['b']],
    ['?dateFrom=2026-03-03', []],
    ['?period=all&caller=web', ['a,"1"']],
    [`?recordedFrom=${TODAY}&caller=web`, ['a,"1"']],
    [`?recordedTo=${TODAY}`, []],
    ['?recordedBy=import', []],
  ])('%s', async (parameters, ids) => {
    const answer = await service().send({ path: QUERIES + parameters });
    const lines = answer.text.split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as { id: string }).id).toSorted()).toEqual(ids);
  });
});

describe('a large export', () => {
  /** Starts a service with more queries than the buffers of a connection hold. */
  async function startLarge(limits: object = {}) {
    const service = await startService({ limits });
    for (let batch = 0; batch < 8; batch++) {
      const ids = Array.from({ length: 10_000 }, (_, at) => `${'x'.repeat(110)}-${batch}-${at}`);
      await service.store.counts.record(
        'docs',
        ids.map((id) => ({ id, caller: 'web', occurredAt: 0 })),
      );
    }
    return service;
  }

  /** Asks for the export on a connection of its own. */
  async function ask(service: Service): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${service.keys.admin}` };
    const asked = get(`${await service.origin()}${QUERIES}`, { agent: false, headers });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    return response;
  }

  test('takes longer than other responses may if it is read, and is cut if it is not', async () => {
    const service = await startLarge({ requestTimeoutMs: 100, answerTimeoutMs: 100 });
    expect((await text(await ask(service))).split('\n')).toHaveLength(80_001);
    const unread = await ask(service);
    await expect.poll(() => service.connections()).toBe(0);
    await expect(text(unread)).rejects.toThrow('aborted');
  });

  test('is cut when the server stops', async () => {
    const service = await startLarge();
    const unread = await ask(service);
    await service.close();
    await expect(text(unread)).rejects.toThrow('aborted');
  });
});

describe('caller-stats export', () => {
  test.concurrent('refuses wrong usage and unknown projects', async () => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['export', project, '--from', 'soon', '--caller', 'A']), 2)).toMatch(
      /--from: .*\n.*--caller: /s,
    );
    expect(await refusal(place.run(['export', project, '--format', 'xml']), 2)).toContain('ndjson, csv');
    expect(await refusal(place.run(['export', 'none']), 1)).toContain('There is no project none');
  });

  test('prints what an import reads, from the database and from a server', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const stats = await succeed(place.run(['stats', project, '--callers']));
    const ndjson = await succeed(place.run(['export', project]));
    const csv = await succeed(place.run(['export', project, '--format', 'csv']));
    expect(ndjson.stdout.split('\n')).toHaveLength(30_270);
    const { url } = await place.serve();
    const env = { CALLER_STATS_KEY: key };
    const remote = { 'remote.ndjson': ['--format', 'ndjson'], 'remote.csv': ['--format', 'csv'] };
    const files = { 'local.ndjson': ndjson.stdout, 'local.csv': csv.stdout };
    for (const [name, args] of Object.entries(remote)) {
      const { stdout } = await succeed(place.run(['export', project, '--url', url, ...args], { env }));
      expect(stdout).toBe(name.endsWith('csv') ? csv.stdout : ndjson.stdout);
    }
    for (const [name, content] of Object.entries(files)) {
      await writeFile(place.path(name), content);
      await succeed(place.run(['project', 'create', name, '--id', name.replace('.', '-')]));
      await succeed(place.run(['import', name, '--project', name.replace('.', '-')]));
      expect(await succeed(place.run(['stats', name.replace('.', '-'), '--callers']))).toEqual(stats);
    }
    for (const [args, lines] of [
      [['--recorded-since', '2026-01-01', '--recorded-by', 'import:local.csv'], 0],
      [['--recorded-since', '2026-01-01', '--recorded-by', 'import'], 30_269],
      [['--recorded-by', 'unknown'], 0],
    ] as const) {
      // The imports of exports know how the queries arrived first.
      const { stdout } = await succeed(place.run(['export', 'local-csv', ...args]));
      expect(stdout.split('\n')).toHaveLength(lines + 1);
    }
    expect((await succeed(place.run(['export', 'local-ndjson']))).stdout).toBe(ndjson.stdout);
    const march = ['--period', 'all', '--caller', 'slack'];
    const some = await succeed(place.run(['export', project, ...march]));
    expect(await succeed(place.run(['export', project, '--url', url, ...march], { env }))).toEqual(some);
    expect(await refusal(place.run(['export', 'none', '--url', url], { env }), 1)).toContain('404');
  });
});
