/** Why a number has changed, and what it was: over HTTP, in the dashboard's API, as a tool, and on share links. */
import { describe, expect, test } from 'vitest';
import { dayOf, formatDay } from '../../../src/domain/queries/receipt.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import {
  CALLERS,
  detailsOf,
  QUERIES,
  SERIES,
  STATS,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import { withFile } from '../../support/storage/sqlite-file.js';

const CHANGES = STATS.replace('caller-stats', 'changes');
const CORRECTIONS = STATS.replace('caller-stats', 'corrections');
const COUNTS = STATS.replace('caller-stats', 'imported-counts');
const json = { 'content-type': 'application/json' };

/** The service begins on the 15th of June 2026. */
describe('changes', () => {
  const service = sharedService({}, async ({ clock, record, send }) => {
    const post = async (path: string, body: unknown) => {
      const answer = await send({ method: 'POST', path, headers: json, body: JSON.stringify(body) });
      expect(answer).toMatchObject({ status: 200 });
    };
    const at = (day: number) => new Date(startMs - day * dayMs).toISOString();
    await record(
      ['web', 'api', 'slak', 'slak', 'bot'].map((caller, day) => ({
        id: `q${day}`,
        caller,
        occurredAt: at(day),
      })),
    );
    clock.nowMs += dayMs;
    await post(QUERIES, [
      { id: 'late', caller: 'slak', occurredAt: at(3) },
      { id: 'new', caller: 'web' },
      { id: 'q0', caller: 'bot' },
    ]);
    const [start, end] = ['2026-06-01T00:00:00Z', '2026-06-02T00:00:00Z'];
    await post(COUNTS, [{ source: 'old', caller: 'web', start, end, count: 7 }]);
    clock.nowMs += dayMs;
    await post(CORRECTIONS, { id: 'no-bot', action: 'withdraw', reason: 'a bot', caller: 'bot' });
    await post(CORRECTIONS, { id: 'slack', action: 'rename', reason: 'a typo', caller: 'slak', to: 'slack' });
    clock.nowMs += dayMs;
    await post(CORRECTIONS, { id: 'sorry', action: 'undo', reason: 'it was real', correction: 'no-bot' });
  });
  const get = async (path: string) => {
    const { status, text } = await service().send({ path });
    return { status, body: JSON.parse(text) };
  };

  test.each<[what: string, parameters: string, details: RegExp[]]>([
    ['no day', '', [/^since: is missing; give the day/]],
    ['a text that is not a day', '?since=yesterday', [/^since: "yesterday" is neither a date/]],
    ['a moment within a day', '?since=2026-06-16T12:00:00Z', [/^since: .* is not the start of a UTC day/]],
    ['a day in a zone', '?since=2026-06-16T00:00:00%2B02:00', [/^since: .* is not the start of a UTC day/]],
    ['tomorrow', '?since=2026-06-19', [/^since: .* lies in the future; the last day .* is 2026-06-18$/]],
    [
      'bounds within a quarter hour',
      '?since=2026-06-16&dateFrom=2026-06-01T00:07&dateTo=2026-06-02T00:00:00.001',
      [/^dateFrom: 2026-06-01T00:07:00.000Z is not the start of a quarter hour/, /^dateTo: .* quarter hour/],
    ],
    ['a caller', '?since=2026-06-16&caller=web', [/^"caller": is not a parameter here/]],
  ])('are refused with %s', async (_what, parameters, details) => {
    const answer = await service().send({ path: `${CHANGES}${parameters}` });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details.map((detail) => expect.stringMatching(detail)));
  });

  test.each<[path: string, details: RegExp[]]>([
    [`${STATS}?asOf=2026-06-16T01:00Z`, [/^asOf: .* is not the start of a UTC day/]],
    [`${CALLERS}?asOf=2027-01-01`, [/^asOf: .* lies in the future/]],
    [`${STATS}?asOf=2026-06-16&dateTo=2026-06-01T00:00:01`, [/^dateTo: .* quarter hour/]],
    [
      `${STATS}?asOf=2026-06-16&period=today`,
      [/^period: today was another range then; give dateFrom and dateTo/],
    ],
    [
      `${SERIES}?asOf=2026-06-16&dateFrom=1890-01-01T00:00Z&dateTo=1890-01-02T00:00Z&timeZone=Europe/Berlin&interval=hour`,
      [/^interval: a bucket begins at .*, within a quarter hour/],
    ],
  ])('%s is refused', async (path, details) => {
    const answer = await service().send({ path });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual(details.map((detail) => expect.stringMatching(detail)));
  });

  test('name each cause, with who did it and the reason', async () => {
    const since = await get(`${CHANGES}?since=2026-06-16`);
    const by = expect.stringMatching(/^key:/);
    const recorded = { by, correction: null, reason: null };
    const renamed = { cause: 'renamed', by, correction: 'slack', reason: 'a typo', type: 'other' };
    expect(since).toEqual({
      status: 200,
      body: {
        since: '2026-06-16T00:00:00.000Z',
        dateFrom: null,
        dateTo: null,
        before: { web: 1, api: 1, other: 3, total: 5 },
        now: { web: 9, api: 1, other: 4, total: 14 },
        difference: { web: 8, api: 0, other: 1, total: 9 },
        changes: [
          { ...recorded, cause: 'imported', by: 'counts:old', caller: 'web', type: 'web', count: 7 },
          { ...renamed, caller: 'slack', count: 3 },
          { ...renamed, caller: 'slak', count: -3 },
          { ...recorded, cause: 'recorded', caller: 'web', type: 'web', count: 1 },
          { ...recorded, cause: 'recordedLate', caller: 'slak', type: 'other', count: 1 },
          {
            cause: 'undone',
            by,
            correction: 'sorry',
            reason: 'it was real',
            caller: 'bot',
            type: 'other',
            count: 1,
          },
          {
            cause: 'withdrawn',
            by,
            correction: 'no-bot',
            reason: 'a bot',
            caller: 'bot',
            type: 'other',
            count: -1,
          },
        ],
        otherChanges: { web: 0, api: 0, other: 0, total: 0 },
      },
    });
    const ofJune = await get(`${CHANGES}?since=2026-06-18&period=this-month&timeZone=Europe/Berlin`);
    expect(ofJune.body).toMatchObject({
      dateFrom: '2026-06-01T00:00:00.000+02:00',
      difference: { total: 1 },
      changes: [{ cause: 'undone', caller: 'bot', count: 1 }],
    });
  });

  test('begin with what asOf answers in every report', async () => {
    const then = async (path: string) => (await get(path)).body;
    expect(await then(`${STATS}?asOf=2026-06-15`)).toEqual({ web: 0, api: 0, other: 0, total: 0 });
    expect(await then(`${STATS}?asOf=2026-06-18`)).toEqual({ web: 9, api: 1, other: 3, total: 13 });
    expect(await then(`${STATS}?asOf=2026-06-16&caller=slak`)).toMatchObject({ other: 2, total: 2 });
    expect(await then(`${STATS}?asOf=2026-06-16&period=this-month&compare=previous`)).toMatchObject({
      total: 5,
      previous: {
        total: 0,
        dateFrom: '2026-05-01T00:00:00.000+00:00',
        dateTo: '2026-05-16T00:00:00.000+00:00',
      },
    });
    expect((await then(`${CALLERS}?asOf=2026-06-17`)).callers).toEqual([
      { caller: 'web', type: 'web', count: 9 },
      { caller: 'slak', type: 'other', count: 3 },
      { caller: 'api', type: 'api', count: 1 },
      { caller: 'bot', type: 'other', count: 1 },
    ]);
    const { buckets } = await then(`${SERIES}?asOf=2026-06-16&interval=day`);
    expect(buckets.map(({ total }: { readonly total: number }) => total)).toEqual([1, 1, 1, 1, 1]);
  });

  test('are a tool, which needs the day', async () => {
    const call = async (given: object) => {
      const params = { name: 'get_changes', arguments: { projectId: 'docs', ...given } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      const headers = { ...json, accept: 'application/json, text/event-stream' };
      const { text } = await service().send({ method: 'POST', path: '/mcp', headers, body });
      return text;
    };
    expect(await call({})).toMatch(/since: is missing/);
    expect(await call({ since: '2026-06-16' })).toMatch(/Difference: web 8, api 0, other 1, total 9/);
  });
});

test('what retention has removed is refused with the reason', async () => {
  const { clock, record, send, store } = await startService();
  await record([{ id: 'old', caller: 'web', occurredAt: '2026-01-01T00:00:00Z' }]);
  await store.directory.changeProject(
    'default',
    'docs',
    { retentionDays: 30 },
    { name: 'x', address: null, at: 0 },
  );
  while (!(await store.maintenance.applyRetention(clock.nowMs, 100)).done);
  const details = async (parameters: string) =>
    detailsOf(await send({ path: `${CHANGES}?since=2026-06-15${parameters}` }));
  expect(await details('')).toEqual([
    expect.stringMatching(
      /^dateFrom: retention has removed the rows .* begin at 2026-05-16T00:00:00.000Z or later$/,
    ),
  ]);
  expect(await send({ path: `${CHANGES}?since=2026-06-15&dateFrom=2026-05-16` })).toMatchObject({
    status: 200,
  });
});

test('a day from before arrivals were kept is refused with the first one that can be asked for', async () => {
  const { databaseUrl, record, send } = await startService({ ownFile: true });
  await record([{ id: 'q', caller: 'web' }]);
  withFile(databaseUrl.replace('sqlite:', ''), (db) =>
    db.exec(`UPDATE project SET known_from = ${startMs + 1000}`),
  );
  const first = formatDay(dayOf(startMs) + 1);
  const ask = async (day: string) => detailsOf(await send({ path: `${CHANGES}?since=${day}` }));
  expect(await ask(formatDay(dayOf(startMs)))).toEqual([
    expect.stringMatching(
      new RegExp(`^since: nobody knows .* the first day that can be asked for is ${first}$`),
    ),
  ]);
  expect(await ask(first)).toEqual([expect.stringMatching(/^since: .* lies in the future/)]);
});

test('days are refused on which nobody noted what telemetry told of corrected queries, as before schema 26', async () => {
  const { clock, databaseUrl, record, send } = await startService({ ownFile: true });
  await record([{ id: 'q', caller: 'slak' }]);
  const correction = { id: 'c', action: 'rename', reason: 'a typo', caller: 'slak', to: 'slack' };
  const body = JSON.stringify(correction);
  expect(await send({ method: 'POST', path: CORRECTIONS, headers: json, body })).toMatchObject({
    status: 200,
  });
  withFile(databaseUrl.replace('sqlite:', ''), (db) =>
    db.exec(`INSERT INTO late_change (project, id, day, caller)
      SELECT project, id, ${Math.floor(startMs / dayMs) + 1}, 1 FROM corrected_query`),
  );
  clock.nowMs += 3 * dayMs;
  const ask = (day: string) => send({ path: `${CHANGES}?since=${day}` });
  expect(detailsOf(await ask('2026-06-16'))).toEqual([
    expect.stringMatching(
      /^since: on 2026-06-16, telemetry told more .* the first day that can be asked for is 2026-06-17$/,
    ),
  ]);
  expect(await ask('2026-06-17')).toMatchObject({ status: 200 });
});
