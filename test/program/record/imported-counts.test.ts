import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { batchQueriesMax, bodyBytesMax, importedCountsMax } from '../../../src/domain/limits.js';
import { CALLERS, detailsOf, errorOf, STATS, sharedService, startMs } from '../../support/http/http.js';

const PATH = '/v1/analytics/docs/assistant/imported-counts';
const JSON_TYPE = { 'content-type': 'application/json' };
const iso = (timeMs: number): string => new Date(timeMs).toISOString();

const one = {
  source: 'old.example.com/docs',
  caller: 'slack',
  start: '2024-01-01T00:00:00Z',
  end: '2024-02-01T00:00:00Z',
  count: 120,
};

describe('imported counts: refuses', () => {
  const service = sharedService();
  const post = (body: unknown, more: object = {}) =>
    service().send({ method: 'POST', path: PATH, headers: JSON_TYPE, body: JSON.stringify(body), ...more });

  test('a recording key and a key that may only read, without reading the body', async () => {
    const { keys, calls, addKey } = service();
    const reader = await addKey('reader', { type: 'admin', scopes: ['read'] });
    expect(await post('no', { key: keys.recording })).toMatchObject({ status: 401 });
    expect(await post('no', { key: reader })).toMatchObject({ status: 403 });
    expect(calls.map(({ method }) => method)).not.toContain('importCounts');
  });

  test.each<[what: string, body: unknown, details: (string | RegExp)[]]>([
    [
      'no object',
      ['x'],
      ['counts[0]: is not a count: send an object with source, caller, start, end, count'],
    ],
    [
      'an empty object',
      {},
      [
        'counts[0]: source: is missing; name the system that counted the queries',
        'counts[0]: caller: is missing; send "web", "api", or the name of an integration or SDK',
        ...['start', 'end', 'count'].map((field) => `counts[0]: ${field}: is missing`),
      ],
    ],
    ['a negative count', { ...one, count: -1 }, [/^counts\[0\]: count: is not a whole number from 0 to /]],
    ['a fraction', { ...one, count: 1.5 }, [/count: is not a whole number/]],
    ['a text', { ...one, count: '5' }, [/count: is not a whole number/]],
    ['a huge count', { ...one, count: 1e9 + 1 }, [/count: is not a whole number/]],
    ['a source with a space', { ...one, source: 'my source' }, [/source: is not 1 to 200 ASCII characters/]],
    ['a source that is too long', { ...one, source: 'x'.repeat(201) }, [/source: is not 1 to 200/]],
    ['a local time', { ...one, start: '2024-01-01T00:00:00' }, [/start: .* has no offset/]],
    ['a date', { ...one, end: '2024-02-01' }, [/end: .* has no time/]],
    ['an empty span', { ...one, end: one.start }, [/end: does not lie after start/]],
    [
      'a long span',
      { ...one, end: '2025-01-03T00:00:00.001Z' },
      [/end: lies more than 367 days after start/],
    ],
    [
      'a span in the future',
      { ...one, start: iso(startMs + 86_400_001), end: iso(startMs + 86_400_002) },
      [/start: lies more than a day ahead/],
    ],
    ['an unknown field', { ...one, cuont: 5 }, [/"cuont": is not a field here; did you mean count\?/]],
    [
      'two bad ones of three',
      [{ ...one, count: 0.5 }, one, 7],
      [/^counts\[0\]/, /^counts\[2\]: is not a count/],
    ],
  ])('%s', async (_what, body, details) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(/^Nothing was imported/);
    const found = detailsOf(answer);
    expect(found).toHaveLength(details.length);
    for (const [at, detail] of details.entries()) expect(found[at]).toMatch(detail);
  });

  test('unknown parameters, too many counts and other media types', async () => {
    const wrong = await post([one], { path: `${PATH}?dryrun=true&dryRun=yes` });
    expect(wrong.status).toBe(400);
    expect(detailsOf(wrong)).toEqual([
      '"dryrun": is not a parameter here; did you mean dryRun?',
      'dryRun: is not one of true, false',
    ]);
    for (const max of [importedCountsMax, batchQueriesMax]) {
      const tooMany = await post(Array(max + 1).fill(one));
      const message = `The body has more than ${max} counts; send fewer at a time.`;
      expect([tooMany.status, errorOf(tooMany)]).toEqual([413, message]);
    }
    const packed = { 'content-encoding': 'gzip', ...JSON_TYPE };
    const tooLong = await post([], { headers: packed, body: gzipSync(' '.repeat(bodyBytesMax + 1)) });
    expect(errorOf(tooLong)).toBe(
      `The body has more than ${bodyBytesMax} bytes once decoded; send fewer counts at a time.`,
    );
    expect(await post([one], { headers: { 'content-type': 'text/csv' } })).toMatchObject({ status: 415 });
    const unread = await service().send({ path: `${PATH}/cuts?dateFrom=2024-02-30` });
    expect(unread.status).toBe(400);
    expect(await service().send({ path: `${PATH.replace('docs', 'none')}/cuts` })).toMatchObject({
      status: 404,
    });
  });

  test('a count that contradicts an imported one, by name, and changes nothing', async () => {
    await post([one]);
    for (const path of [PATH, `${PATH}?dryRun=true`]) {
      const answer = await post(
        [
          { ...one, caller: 'web' },
          { ...one, count: 121 },
        ],
        { path },
      );
      expect(answer.status).toBe(409);
      expect(detailsOf(answer)).toEqual([
        'old.example.com/docs, caller slack, 2024-01-01T00:00:00.000Z to 2024-02-01T00:00:00.000Z: the count sent is 121; the count already there is 120',
      ]);
    }
    expect((await service().send({ path: STATS })).text).toBe('{"web":0,"api":0,"other":120,"total":120}');
  });
});

describe('imported counts', () => {
  const service = sharedService();

  test('count at the start of their span, once, however they are sent', async () => {
    const lines = [one, { ...one, caller: 'web', count: 0 }, { ...one, caller: 'api', count: 7 }];
    const ndjson = lines.map((line) => JSON.stringify(line)).join('\n');
    const send = (path: string, body: string | Uint8Array, headers: Record<string, string>) =>
      service().send({ method: 'POST', path, headers, body });
    const dry = await send(`${PATH}?dryRun=true`, JSON.stringify(lines), JSON_TYPE);
    expect(dry.text).toBe('{"recorded":3,"duplicates":0}');
    expect((await service().send({ path: STATS })).text).toBe('{"web":0,"api":0,"other":0,"total":0}');
    const NDJSON = { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' };
    const first = await send(PATH, gzipSync(ndjson), NDJSON);
    expect([first.status, first.text]).toEqual([200, '{"recorded":3,"duplicates":0}']);
    expect((await send(PATH, JSON.stringify(one), JSON_TYPE)).text).toBe('{"recorded":0,"duplicates":1}');
    const counted = await service().send({ path: `${STATS}?dateFrom=2024-01-01&dateTo=2024-01-02` });
    expect(counted.text).toBe('{"web":0,"api":7,"other":120,"total":127}');
    const callers = await service().send({ path: CALLERS });
    expect(JSON.parse(callers.text)).toMatchObject({
      total: 127,
      callers: [{ caller: 'slack' }, { caller: 'api' }],
    });
  });

  test.each([
    ['', null, null],
    ['?dateFrom=2024-01-01&dateTo=2024-02-01', null, null],
    ['?dateFrom=2024-01-15', 127, null],
    ['?dateFrom=2023-01-15&dateTo=2024-01-31T23:59:59.999Z', null, 127],
    ['?dateFrom=2024-01-02&dateTo=2024-01-02', 127, 127],
  ])('are reported if the range %s cuts their span', async (range, dateFrom, dateTo) => {
    const answer = await service().send({ path: `${PATH}/cuts${range}` });
    const cut = (count: number | null) =>
      count === null ? null : { start: '2024-01-01T00:00:00.000Z', end: '2024-02-01T00:00:00.000Z', count };
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { dateFrom: cut(dateFrom), dateTo: cut(dateTo), buckets: null },
    ]);
  });

  test.each([
    ['interval=year', null],
    ['interval=month', null],
    ['interval=month&timeZone=Asia/Tokyo', 127],
    ['interval=month&timeZone=America/New_York', 127],
    ['interval=day', 127],
    ['interval=day&dateFrom=2024-01-02', null],
    // The end of the range is told apart.
    ['interval=month&dateTo=2024-01-20', null],
    ['interval=week&dateTo=2024-01-20', 127],
  ])('are reported if the buckets of %s cut their span', async (query, count) => {
    const answer = await service().send({ path: `${PATH}/cuts?${query}` });
    expect([answer.status, JSON.parse(answer.text).buckets?.count ?? null]).toEqual([200, count]);
  });

  test('are refused for buckets of no interval, and for too many', async () => {
    for (const [query, problem] of [
      ['interval=fortnight', /^interval: "fortnight" is not an interval/],
      [
        'interval=hour&dateFrom=2000-01-01&dateTo=2024-01-01',
        /^interval: hour makes more than 10000 buckets/,
      ],
    ] as const) {
      const answer = await service().send({ path: `${PATH}/cuts?${query}` });
      expect(answer.status).toBe(400);
      expect(detailsOf(answer)).toEqual([expect.stringMatching(problem)]);
    }
  });

  test('are reported in the time zone of the request', async () => {
    const cuts = `${PATH}/cuts?dateFrom=2024-01-15`;
    const { text } = await service().send({ path: `${cuts}&timeZone=America/New_York` });
    expect(JSON.parse(text)).toMatchObject({
      dateFrom: { start: '2023-12-31T19:00:00.000-05:00', end: '2024-01-31T19:00:00.000-05:00' },
    });
  });
});
