/** The `Accept` header chooses between JSON and CSV. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Series } from '../../../src/domain/counting/series.js';
import { CALLERS, QUERIES, SERIES, STATS, sharedService } from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';

const CSV_TYPE = 'text/csv; charset=utf-8; header=present';
const JSON_TYPE = 'application/json; charset=utf-8';

const EVENTS = ['web', 'slack', 'slack', '-1'].map((caller, index) => ({
  id: `${index}`,
  caller,
  occurredAt: `2026-03-0${index + 1}T12:00:00Z`,
}));

const service = sharedService({}, ({ record }) => record(EVENTS));

describe.each([SERIES, CALLERS])('%s', (path) => {
  test.each([
    ['', JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['application/json', JSON_TYPE],
    ['text/csv', CSV_TYPE],
    ['text/*', CSV_TYPE],
    ['text/csv; header=present', CSV_TYPE],
    ['text/csv, application/json', CSV_TYPE],
    ['application/json, text/csv', JSON_TYPE],
    ['text/csv;q=0.5, application/json;q=0.6', JSON_TYPE],
    ['text/csv;q=0, */*', JSON_TYPE],
    ['application/json;q=0, */*', CSV_TYPE],
    ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', JSON_TYPE],
    // Neither format is accepted: JSON.
    ['image/png', JSON_TYPE],
    ['text/csv;q=0', JSON_TYPE],
    ['text/csv; header=absent', JSON_TYPE],
    ['nonsense', JSON_TYPE],
    [',;=', JSON_TYPE],
  ])('for Accept: %s it returns %s', async (accept, type) => {
    const { send } = service();
    const headers = { accept };
    const answer = await send({ path, headers });
    expect([answer.status, answer.headers['content-type'], answer.headers['vary']]).toEqual([
      200,
      type,
      'Accept',
    ]);
    expect(answer.text.startsWith('{')).toBe(type === JSON_TYPE);
    const head = await send({ method: 'HEAD', path, headers });
    const comparable = ({ status, headers: all }: Answer) => [
      status,
      all['content-type'],
      all['vary'],
      all['content-length'],
    ];
    expect(comparable(head)).toEqual(comparable(answer));
  });

  test('returns errors as JSON', async () => {
    const { send } = service();
    const answer = await send({ path: `${path}?x=1`, headers: { accept: 'text/csv' } });
    expect([answer.status, answer.headers['content-type']]).toEqual([400, JSON_TYPE]);
  });
});

describe('Accept-Encoding', () => {
  const year = `${SERIES}?dateFrom=2025-01-01&dateTo=2026-01-01`;

  /** The response as it arrives. */
  async function receive(path: string, headers: Readonly<Record<string, string>>, method = 'GET') {
    const { origin, keys } = service();
    const request = get(`${await origin()}${path}`, {
      method,
      headers: { authorization: `Bearer ${keys.admin}`, ...headers },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const { 'content-encoding': coding, 'content-length': length, vary, etag } = response.headers;
    return { body: await buffer(response), coding, length, vary, etag };
  }

  test.each([
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'gzip'],
    ['*', 'gzip'],
    ['x-gzip', 'x-gzip'],
    ['identity;q=0.5, gzip;q=0.6', 'gzip'],
    ['identity, gzip;q=0.9', undefined],
    ['gzip;q=0', undefined],
    ['br', undefined],
    ['', undefined],
    ['*;q=0', undefined],
    ['nonsense,;=', undefined],
  ])('%j gets the same bytes as %s', async (asked, coding) => {
    for (const [path, more, vary] of [
      [year, {}, 'Accept, Accept-Encoding'],
      [year, { accept: 'text/csv' }, 'Accept, Accept-Encoding'],
      ['/openapi.json', {}, 'Accept-Encoding'],
    ] as const) {
      const plain = await receive(path, more);
      expect(plain).toMatchObject({ coding: undefined, vary, length: String(plain.body.length) });
      const answer = await receive(path, { ...more, 'accept-encoding': asked });
      expect(answer).toMatchObject({ coding, vary, length: String(answer.body.length), etag: undefined });
      expect((coding === undefined ? answer.body : gunzipSync(answer.body)).equals(plain.body)).toBe(true);
      if (coding !== undefined) expect(answer.body.length).toBeLessThan(plain.body.length / 3);
      const head = await receive(path, { ...more, 'accept-encoding': asked }, 'HEAD');
      expect(head).toEqual({ ...answer, body: Buffer.alloc(0) });
    }
  });

  test.each([
    ['a short answer', STATS, {}],
    ['an error', `${SERIES}?${'x'.repeat(60)}=1`, {}],
    ['an export, which is made while it is read', QUERIES, { accept: 'text/csv' }],
  ])('%s is never compressed', async (_name, path, more) => {
    const plain = await receive(path, more);
    const asking = await receive(path, { ...more, 'accept-encoding': 'gzip' });
    expect(asking).toEqual(plain);
  });
});

describe('CSV', () => {
  const headers = { accept: 'text/csv' };

  test('of a series has a header line and CRLF line ends', async () => {
    const { send } = service();
    const query = '?dateFrom=2026-03-01&dateTo=2026-03-03&timeZone=Europe/Berlin';
    expect((await send({ path: SERIES + query, headers })).text).toBe(
      [
        'start,end,web,api,other,total',
        '2026-03-01T00:00:00.000+01:00,2026-03-02T00:00:00.000+01:00,1,0,0,1',
        '2026-03-02T00:00:00.000+01:00,2026-03-03T00:00:00.000+01:00,0,0,1,1',
        '',
      ].join('\r\n'),
    );
  });

  test('of callers has a header line and CRLF line ends', async () => {
    const { send } = service();
    expect((await send({ path: CALLERS, headers })).text).toBe(
      ['caller,type,count', 'slack,other,2', "'-1,other,1", 'web,web,1', ''].join('\r\n'),
    );
  });

  test('of an empty project is the header line', async () => {
    const read = async (path: string) =>
      (await service().send({ path: path.replace('docs', 'blog'), headers })).text;
    expect(await read(SERIES)).toBe('start,end,web,api,other,total\r\n');
    expect(await read(CALLERS)).toBe('caller,type,count\r\n');
  });

  test('has the same values as JSON', async () => {
    const { send } = service();
    const lines = (await send({ path: SERIES, headers })).text.trimEnd().split('\r\n').slice(1);
    const { buckets } = JSON.parse((await send({ path: SERIES })).text) as { buckets: object[] };
    expect(lines).toEqual(buckets.map((bucket) => Object.values(bucket).join()));
  });

  test('by caller has the same values in its long layout as in its wide one', async () => {
    const { send } = service();
    const read = async (layout: string) =>
      (await send({ path: `${SERIES}?by=caller&interval=hour&layout=${layout}`, headers })).text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','));
    const [[, , , ...columns] = [], ...wide] = await read('wide');
    const [head, ...long] = await read('long');
    expect(head).toEqual(['start', 'end', 'caller', 'type', 'count']);
    const types = { 'caller.-1': 'other', 'caller.slack': 'other', 'caller.web': 'web', '(rest)': '' };
    expect(columns).toEqual(Object.keys(types));
    expect(long).toEqual(
      wide.flatMap(([start, end, , ...counts]) =>
        Object.entries(types).map(([column, type], at) => [
          ...[start, end, column.replace('caller.', '').replace(/^-/, "'-"), type, counts[at]],
        ]),
      ),
    );
    // JSON has one layout.
    const [one, other] = await Promise.all(
      ['wide', 'long'].map((layout) => send({ path: `${SERIES}?by=caller&layout=${layout}` })),
    );
    expect(one?.text).toBe(other?.text);
  });

  test.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-30', 23],
    ['Europe/Berlin', '2026-10-25', '2026-10-26', 25],
    ['Asia/Kathmandu', '2026-03-01', '2026-03-01T05:30:00.250', 6],
  ])('has the times that clocks in %s show from %s to %s', async (timeZone, dateFrom, dateTo, hours) => {
    const { send } = service();
    const query = new URLSearchParams({ timeZone, dateFrom, dateTo, interval: 'hour', compare: 'previous' });
    const { buckets } = JSON.parse((await send({ path: `${SERIES}?${query}` })).text) as Series;
    expect(buckets).toHaveLength(hours);
    // Swedish dates are as those of ISO 8601.
    const clock = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    const show = (time: string) =>
      clock.format(Date.parse(time)) + (time.includes('.000') ? '' : time.slice(19, 23));
    const read = async (more: string) =>
      (await send({ path: `${SERIES}?${query}${more}`, headers })).text
        .trimEnd()
        .split('\r\n')
        .map((line) => line.split(','));
    const written = await read('');
    expect(await read('&times=offset')).toEqual(written);
    expect(await read('&times=local')).toEqual(
      written.map((cells) => cells.map((cell) => (/^\d+-\d+-/.test(cell) ? show(cell) : cell))),
    );
  });
});
