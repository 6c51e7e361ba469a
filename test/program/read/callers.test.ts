import { describe, expect, test } from 'vitest';
import { CALLERS, detailsOf, sharedService } from '../../support/http/http.js';
import { by, projectOf } from '../../support/storage/store.js';

const EVENTS = [
  ['web', '2026-03-01T00:00:00.000Z'],
  ['slack', '2026-03-02T00:00:00.000Z'],
  ['slack', '2026-03-02T00:00:00.000Z'],
  ['web', '2026-03-02T00:00:00.001Z'],
  ['web', '2026-03-03T00:00:00.000Z'],
  ['api', '2026-03-04T00:00:00.000Z'],
  ['sdk-python', '2026-03-04T00:00:00.000Z'],
].map(([caller, occurredAt], index) => ({ id: `${index}`, caller, occurredAt }));

describe('GET callers returns 400 with a message for each wrong parameter:', () => {
  const service = sharedService();
  test.each<[queryString: string, details: string[]]>([
    ['dateFrom=', ['dateFrom: is empty; leave it out or give a date']],
    [
      'interval=day',
      [
        '"interval": is not a parameter here; there are dateFrom, dateTo, period, timeZone, weekStart, compare, asOf',
      ],
    ],
  ])('?%s', async (queryString, details) => {
    const { send, calls } = service();
    const answer = await send({ path: `${CALLERS}?${queryString}` });
    expect([answer.status, detailsOf(answer)]).toEqual([400, details]);
    expect(calls.map(({ method }) => method)).not.toContain('countCallers');
  });
});

describe('GET callers', () => {
  const service = sharedService({}, ({ record }) => record(EVENTS));
  test.each<[queryString: string, total: number, callers: readonly (readonly [string, string, number])[]]>([
    [
      '',
      7,
      [
        ['web', 'web', 3],
        ['slack', 'other', 2],
        ['api', 'api', 1],
        ['sdk-python', 'other', 1],
      ],
    ],
    ['dateFrom=2026-03-02&dateTo=2026-03-02T00:00:00.001Z', 2, [['slack', 'other', 2]]],
    ['dateTo=2026-03-02', 1, [['web', 'web', 1]]],
    ['dateTo=2026-03-01', 0, []],
    ['dateFrom=2026-03-02&dateTo=2026-03-02', 0, []],
  ])('?%s counts %i queries by caller', async (queryString, total, callers) => {
    const answer = await service().send({ path: `${CALLERS}?${queryString}` });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      total,
      callers: callers.map(([caller, type, count]) => ({ caller, type, count })),
    });
  });

  test.each([
    ['/caller-stats?caller=slakc', 'slakc was ever recorded in this project; did you mean slack?'],
    ['/caller-stats/series?caller=mailer&interval=month', 'mailer was ever recorded in this project'],
    ['/caller-stats?caller=slack&dateTo=2026-03-01', undefined],
    ['/caller-stats?caller=slack', undefined],
    ['/caller-stats?dateTo=2026-03-01', undefined],
  ])('of %s, a header tells a caller that never was', async (path, end) => {
    const { headers, status } = await service().send({ path: CALLERS.replace('/callers', path) });
    const hint = end && `no query of the caller ${end}`;
    expect([status, headers['caller-stats-hint']]).toEqual([200, hint]);
  });

  test('writes thousands of callers in pieces of the same answer', async () => {
    const { store, send } = service();
    await store.directory.createProject(projectOf('many'), by);
    const names = Array.from({ length: 2_345 }, (_, at) => `caller-${String(at).padStart(5, '0')}`);
    await store.counts.record(
      'many',
      names.map((caller, at) => ({ id: caller, caller, occurredAt: at })),
    );
    const path = CALLERS.replace('docs', 'many');
    const callers = names.map((caller) => ({ caller, type: 'other', count: 1 }));
    const json = await send({ path });
    expect(json.text).toBe(JSON.stringify({ total: names.length, callers }));
    expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
    const compared = await send({ path: `${path}?period=today&compare=previous` });
    expect(compared.text).toMatch(/^\{"total":0,"callers":\[\],"previous":\{/);
    const csv = await send({ path, headers: { accept: 'text/csv' } });
    const rows = names.map((caller) => `${caller},other,1\r\n`);
    expect(csv.text).toBe(`caller,type,count\r\n${rows.join('')}`);
  });

  test('does not list the callers of another project', async () => {
    const answer = await service().send({ path: CALLERS.replace('docs', 'blog') });
    expect(answer.text).toBe('{"total":0,"callers":[]}');
  });
});
