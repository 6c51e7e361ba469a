import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { batchQueriesMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import {
  detailsOf,
  errorOf,
  recordingHead,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import { by, retainAll } from '../../support/storage/store.js';

const lines = ['{"id":"a","caller":"web"}', '{"id":"b","caller":"api"}', '{"id":"c","caller":"slack"}'];
const [one = ''] = lines;
const array = `[${lines.join()}]`;
const ndjson = lines.join('\n');
const LINES = { 'content-type': 'application/x-ndjson' };
const GZIP = { 'content-encoding': 'gzip' };

const service = sharedService();

describe('accepts a body:', () => {
  test.each<[string, string | Uint8Array, Record<string, string>, number]>([
    ['one query', one, {}, 1],
    ['an array', array, {}, 3],
    ['an empty array', '[]', {}, 0],
    ['surrounding white space', `\n ${array}\r\n`, {}, 3],
    ['a byte order mark', `\ufeff${array}`, {}, 3],
    ['a charset', array, { 'content-type': 'application/json; charset=utf-8' }, 3],
    ['a media type in capitals', array, { 'content-type': 'Application/JSON' }, 3],
    ['lines', `${ndjson}\n`, LINES, 3],
    ['lines, the last one without a line end', ndjson, LINES, 3],
    ['a single line', one, LINES, 1],
    ['no lines', '', LINES, 0],
    ['blank lines', `\n\n${lines.join('\n \n\t\n')}\n\n`, LINES, 3],
    ['lines that end in CRLF', `${lines.join('\r\n')}\r\n`, LINES, 3],
    ['lines with a byte order mark', `\ufeff${ndjson}`, LINES, 3],
    ['identity', array, { 'content-encoding': 'identity' }, 3],
    ['gzip', gzipSync(array), GZIP, 3],
    ['gzip of lines', gzipSync(ndjson), { ...LINES, ...GZIP }, 3],
    [
      'gzip in two members',
      Buffer.concat([gzipSync(`${one}\n`), gzipSync(ndjson)]),
      { ...LINES, ...GZIP },
      3,
    ],
    ['gzip in capitals', gzipSync(array), { 'content-encoding': ' GZIP ' }, 3],
  ])('%s', async (_what, body, headers, recorded) => {
    const { record, count } = await service().addProject();
    const answer = await record(body, headers);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ recorded });
    const counted = await count();
    expect(counted).toMatchObject({ total: recorded });
    if (recorded === 3) expect(counted).toEqual({ web: 1, api: 1, other: 1, total: 3 });
  });

  test('chunks after 100 Continue', async () => {
    const head = recordingHead(service(), 'Transfer-Encoding: chunked\r\nExpect: 100-continue');
    const chunks = '5\r\n{"id"\r\n14\r\n:"a","caller":"web"}\r\n0\r\n\r\n';
    const answer = await service().sendRaw(head + chunks);
    expect([answer.status, answer.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
  });

  test('the largest one that the limits allow', async () => {
    const { record } = await startService({ limits: { bodyBytesMax: array.length, batchQueriesMax: 3 } });
    expect((await record(array)).text).toBe('{"recorded":3,"duplicates":0}');
    expect((await record(gzipSync(array), GZIP)).text).toBe('{"recorded":0,"duplicates":3}');
    expect((await record(`${array} `)).status).toBe(413);
    expect((await record(gzipSync(`${array} `), GZIP)).status).toBe(413);
    expect((await record(`${ndjson}\n{}`, LINES)).status).toBe(413);
  });

  test('the most queries that the default limit allows', async () => {
    const { record, count } = await service().addProject();
    const queries = Array.from({ length: batchQueriesMax + 1 }, (_, n) => ({ id: `q${n}`, caller: 'api' }));
    const tooMany = await record(queries);
    expect([tooMany.status, errorOf(tooMany)]).toEqual([
      413,
      'The body has more than 10000 queries; send fewer at a time.',
    ]);
    expect(await count()).toMatchObject({ total: 0 });
    expect((await record(queries.slice(1))).text).toBe('{"recorded":10000,"duplicates":0}');
  });
});

describe('accepts a query with', () => {
  const inMs = (ms: number) => new Date(startMs + ms).toISOString();
  test.each<[string, Record<string, unknown>]>([
    ['an id of one character', { id: '0' }],
    ['an id of 128 characters', { id: 'x'.repeat(128) }],
    ['an astral id of 128 characters', { id: '😀'.repeat(128) }],
    ['a white-space id', { id: ' \t\n' }],
    ['a byte order mark as id', { id: '\ufeff' }],
    ['SQL as id', { id: "'); DROP TABLE query; --" }],
    ['a caller of one character', { caller: '-' }],
    ['a caller of 64 characters', { caller: 'x'.repeat(64) }],
    ['a caller with every kind of character', { caller: 'sdk-python_3.12' }],
    ['a time exactly a day ahead', { occurredAt: inMs(dayMs) }],
    ['a lower-case t and z', { occurredAt: '2026-01-31t12:00:00z' }],
    ['nine digits of a second', { occurredAt: '2026-01-31T12:00:00.123456789-23:59' }],
    ['a leap second', { occurredAt: '2016-12-31T23:59:60Z' }],
    ['February 29 of a leap year', { occurredAt: '2024-02-29T00:00:00Z' }],
    ['the first representable time', { occurredAt: '0000-01-01T00:00:00Z' }],
  ])('%s', async (_what, more) => {
    const { record, count } = await service().addProject();
    const query = { id: 'a', caller: 'web', ...more };
    expect((await record(query)).text).toBe('{"recorded":1,"duplicates":0}');
    expect((await record(query)).text).toBe('{"recorded":0,"duplicates":1}');
    expect(await count()).toMatchObject({ total: 1 });
  });

  test('no time, which counts at the time of receipt', async () => {
    const { addProject, clock } = service();
    const { record, count } = await addProject();
    const [from, to] = [0, 1].map((ms) => new Date(clock.nowMs + ms).toISOString());
    await record({ id: 'a', caller: 'web' });
    expect(await count(`?dateFrom=${from}&dateTo=${to}`)).toMatchObject({ total: 1 });
  });

  test('any other caller than web and api, which counts as other', async () => {
    const { record, count } = await service().addProject();
    const callers = ['web', 'api', 'slack', 'sdk-python', 'web2', 'api.v1', 'other', 'total', '_'];
    await record(callers.map((caller) => ({ id: caller, caller })));
    expect(await count()).toEqual({ web: 1, api: 1, other: 7, total: 9 });
  });
});

describe('duplicates', () => {
  test('are recognized by id, in a batch and across batches', async () => {
    const { addProject } = service();
    const { record, count } = await addProject();
    const a = { id: 'a', caller: 'web', occurredAt: '2026-01-31T12:00:00Z' };
    expect((await record([a, { ...a, caller: 'api' }, { ...a, id: 'b' }])).text).toBe(
      '{"recorded":2,"duplicates":1}',
    );
    expect((await record({ ...a, caller: 'slack', occurredAt: '2025-01-01T00:00:00Z' })).text).toBe(
      '{"recorded":0,"duplicates":1}',
    );
    expect((await record([{ ...a, id: 'c' }, a])).text).toBe('{"recorded":1,"duplicates":1}');
    expect(await count('?dateFrom=2026-01-31&dateTo=2026-02-01')).toMatchObject({ web: 3, total: 3 });
    expect(await count('?dateTo=2026-01-31')).toMatchObject({ total: 0 });
    const other = await addProject();
    expect((await other.record(a)).text, 'another project').toBe('{"recorded":1,"duplicates":0}');
  });

  test('have exactly the same bytes as id', async () => {
    const { record } = await service().addProject();
    const ids = ['a', 'A', 'a ', ' a', 'é', 'é'.normalize('NFD'), '1', '01', '1.0'];
    const answer = await record(ids.map((id) => ({ id, caller: 'web' })));
    expect(answer.text).toBe('{"recorded":9,"duplicates":0}');
  });

  test('do not include queries of a rejected batch', async () => {
    const { record } = await service().addProject();
    expect((await record(`[${one},{}]`)).status).toBe(400);
    expect((await record(`[${one}]`)).text).toBe('{"recorded":1,"duplicates":0}');
  });
});

describe('recording into a project with a retention period', () => {
  const rowsFrom = '2026-06-05T00:00:00.000Z';
  const queryAt = (id: string, occurredAt?: string) => ({ id, caller: 'web', occurredAt });

  test('queries from before the retention period return 400 with a message for each, and nothing is recorded', async () => {
    const { record, store } = await startService();
    const old = [queryAt('a', '2026-06-04T23:59:59.999Z'), queryAt('b', rowsFrom)];
    expect(JSON.parse((await record(JSON.stringify(old))).text)).toEqual({ recorded: 2, duplicates: 0 });
    await store.directory.changeProject('default', 'docs', { retentionDays: 10 }, by);
    await retainAll(store, startMs);
    const sent = [queryAt('c'), ...old, queryAt('d', '2020-02-29T12:00:00+01:00')];
    const answer = await record(JSON.stringify(sent));
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(
      /^Nothing was recorded\. .* queries\[1\]: occurredAt: .* \(and 1 more\)\.$/,
    );
    expect(detailsOf(answer)).toEqual(
      [1, 3].map(
        (index) =>
          `queries[${index}]: occurredAt: lies before ${rowsFrom}, from when on the project keeps rows`,
      ),
    );
    const [, b] = old;
    const known = await record(JSON.stringify([b]));
    expect(JSON.parse(known.text)).toEqual({ recorded: 0, duplicates: 1 });
    expect(await store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 2 });
  });

  test('a duplicate without a time counts again if the row of the first one was deleted', async () => {
    const { record, store } = await startService();
    await record(JSON.stringify([queryAt('a', '2026-01-01T00:00:00Z')]));
    await store.directory.changeProject('default', 'docs', { retentionDays: 10 }, by);
    await retainAll(store, startMs);
    const again = await record(JSON.stringify([queryAt('a')]));
    expect(JSON.parse(again.text)).toEqual({ recorded: 1, duplicates: 0 });
    expect(await store.counts.count('docs', ALL_TIME)).toMatchObject({ total: 2 });
  });
});
