import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { batchQueriesMax } from '../../src/domain/limits.js';
import { errorOf, QUERIES, STATS, startMs, startService } from '../support/http.js';

const lines = ['{"id":"a","caller":"web"}', '{"id":"b","caller":"api"}', '{"id":"c","caller":"slack"}'];
const [one = ''] = lines;
const array = `[${lines.join()}]`;
const ndjson = lines.join('\n');
const LINES = { 'content-type': 'application/x-ndjson' };
const GZIP = { 'content-encoding': 'gzip' };

describe('bodies that are accepted', () => {
  test.each<[string, string | Uint8Array, Record<string, string>, number]>([
    ['one query', one, {}, 1],
    ['an array', array, {}, 3],
    ['an empty array', '[]', {}, 0],
    ['white space around', `\n ${array}\r\n`, {}, 3],
    ['a byte order mark before', `\ufeff${array}`, {}, 3],
    ['a charset', array, { 'content-type': 'application/json; charset=utf-8' }, 3],
    ['an upper-case type', array, { 'content-type': 'Application/JSON' }, 3],
    ['lines', `${ndjson}\n`, LINES, 3],
    ['lines, the last without end', ndjson, LINES, 3],
    ['one line', one, LINES, 1],
    ['no line', '', LINES, 0],
    ['blank lines', `\n\n${lines.join('\n \n\t\n')}\n\n`, LINES, 3],
    ['lines that end in CRLF', `${lines.join('\r\n')}\r\n`, LINES, 3],
    ['lines after a byte order mark', `\ufeff${ndjson}`, LINES, 3],
    ['identity', array, { 'content-encoding': 'identity' }, 3],
    ['gzip', gzipSync(array), GZIP, 3],
    ['gzip of lines', gzipSync(ndjson), { ...LINES, ...GZIP }, 3],
    [
      'gzip in two members',
      Buffer.concat([gzipSync(`${one}\n`), gzipSync(ndjson)]),
      { ...LINES, ...GZIP },
      3,
    ],
    ['gzip in upper case', gzipSync(array), { 'content-encoding': ' GZIP ' }, 3],
  ])('%s', async (_what, body, headers, recorded) => {
    const { record, send } = await startService();
    const answer = await record(body, headers);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ recorded });
    const counted = JSON.parse((await send()).text) as unknown;
    expect(counted).toMatchObject({ total: recorded });
    if (recorded === 3) expect(counted).toEqual({ web: 1, api: 1, other: 1, total: 3 });
  });

  test('in chunks, and after 100 Continue', async () => {
    const { sendRaw, keys } = await startService();
    const head = `POST ${QUERIES} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nAuthorization: Bearer ${keys.recording}`;
    const chunks =
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n';
    const answer = await sendRaw(`${head}\r\n${chunks}5\r\n{"id"\r\n14\r\n:"a","caller":"web"}\r\n0\r\n\r\n`);
    expect([answer.status, answer.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
  });

  test('exactly as many bytes and queries as the limits say', async () => {
    const { record } = await startService({ limits: { bodyBytesMax: array.length, batchQueriesMax: 3 } });
    expect((await record(array)).text).toBe('{"recorded":3,"duplicates":0}');
    expect((await record(gzipSync(array), GZIP)).text).toBe('{"recorded":0,"duplicates":3}');
    expect((await record(`${array} `)).status).toBe(413);
    expect((await record(gzipSync(`${array} `), GZIP)).status).toBe(413);
    expect((await record(`${ndjson}\n{}`, LINES)).status).toBe(413);
  });

  test('as many as the default allows, not one more', async () => {
    const { record, send } = await startService();
    const queries = Array.from({ length: batchQueriesMax + 1 }, (_, n) => ({ id: `q${n}`, caller: 'api' }));
    const tooMany = await record(queries);
    expect([tooMany.status, errorOf(tooMany)]).toEqual([
      413,
      'The body has more than 10000 queries; send fewer at a time.',
    ]);
    expect((await send()).text).toBe('{"web":0,"api":0,"other":0,"total":0}');
    expect((await record(queries.slice(1))).text).toBe('{"recorded":10000,"duplicates":0}');
  });
});

describe('queries that are accepted', () => {
  const inMs = (ms: number) => new Date(startMs + ms).toISOString();
  test.each<[string, Record<string, unknown>]>([
    ['an id of one character', { id: '0' }],
    ['an id of 128 characters', { id: 'x'.repeat(128) }],
    ['an astral id of 128 characters', { id: '😀'.repeat(128) }],
    ['an id of white space', { id: ' \t\n' }],
    ['a byte order mark as id', { id: '\ufeff' }],
    ['SQL as id', { id: "'); DROP TABLE query; --" }],
    ['a caller of one character', { caller: '-' }],
    ['a caller of 64 characters', { caller: 'x'.repeat(64) }],
    ['a caller of all kinds of characters', { caller: 'sdk-python_3.12' }],
    ['exactly a day ahead', { occurredAt: inMs(86_400_000) }],
    ['lower-case t and z', { occurredAt: '2026-01-31t12:00:00z' }],
    ['nine digits of a second', { occurredAt: '2026-01-31T12:00:00.123456789-23:59' }],
    ['a leap second', { occurredAt: '2016-12-31T23:59:60Z' }],
    ['February 29 of a leap year', { occurredAt: '2024-02-29T00:00:00Z' }],
    ['the first time that can be written', { occurredAt: '0000-01-01T00:00:00Z' }],
  ])('%s', async (_what, more) => {
    const { record, send } = await startService();
    const query = { id: 'a', caller: 'web', ...more };
    expect((await record(query)).text).toBe('{"recorded":1,"duplicates":0}');
    expect((await record(query)).text).toBe('{"recorded":0,"duplicates":1}');
    expect(JSON.parse((await send()).text)).toMatchObject({ total: 1 });
  });

  test('without a time, the time of receipt', async () => {
    const { record, send, clock } = await startService();
    clock.nowMs = Date.parse('2026-03-01T10:00:00.123Z');
    await record({ id: 'a', caller: 'web' });
    const range = 'dateFrom=2026-03-01T10:00:00.123Z&dateTo=2026-03-01T10:00:00.124Z';
    expect((await send({ path: `${STATS}?${range}` })).text).toBe('{"web":1,"api":0,"other":0,"total":1}');
  });

  test('every caller but web and api is other', async () => {
    const { record, send } = await startService();
    const callers = ['web', 'api', 'slack', 'sdk-python', 'web2', 'api.v1', 'other', 'total', '_'];
    await record(callers.map((caller) => ({ id: caller, caller })));
    expect((await send()).text).toBe('{"web":1,"api":1,"other":7,"total":9}');
  });
});

describe('duplicates', () => {
  test('in a batch, across batches, whatever else they say', async () => {
    const { record, send, keys } = await startService();
    const a = { id: 'a', caller: 'web', occurredAt: '2026-01-31T12:00:00Z' };
    expect((await record([a, { ...a, caller: 'api' }, { ...a, id: 'b' }])).text).toBe(
      '{"recorded":2,"duplicates":1}',
    );
    expect((await record({ ...a, caller: 'slack', occurredAt: '2025-01-01T00:00:00Z' })).text).toBe(
      '{"recorded":0,"duplicates":1}',
    );
    expect((await record([{ ...a, id: 'c' }, a])).text).toBe('{"recorded":1,"duplicates":1}');
    expect((await send({ path: `${STATS}?dateFrom=2026-01-31&dateTo=2026-02-01` })).text).toBe(
      '{"web":3,"api":0,"other":0,"total":3}',
    );
    expect((await send({ path: `${STATS}?dateTo=2026-01-31` })).text).toBe(
      '{"web":0,"api":0,"other":0,"total":0}',
    );

    const blog = { path: QUERIES.replace('docs', 'blog'), key: keys.recordingBlog };
    const headers = { 'content-type': 'application/json' };
    const elsewhere = await send({ ...blog, method: 'POST', headers, body: JSON.stringify(a) });
    expect(elsewhere.text, 'an id is unique within its project').toBe('{"recorded":1,"duplicates":0}');
  });

  test('ids are compared byte for byte', async () => {
    const { record } = await startService();
    const ids = ['a', 'A', 'a ', ' a', 'é', 'é'.normalize('NFD'), '1', '01', '1.0'];
    const answer = await record(ids.map((id) => ({ id, caller: 'web' })));
    expect(answer.text).toBe('{"recorded":9,"duplicates":0}');
  });

  test('a refused batch may be sent again without its bad query', async () => {
    const { record } = await startService();
    expect((await record(`[${one},{}]`)).status).toBe(400);
    expect((await record(`[${one}]`)).text).toBe('{"recorded":1,"duplicates":0}');
  });
});
