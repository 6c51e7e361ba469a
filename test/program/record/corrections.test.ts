/** Corrections over HTTP, as somebody uses them who has recorded something wrong. */
import { describe, expect, test } from 'vitest';
import { runCorrections } from '../../../src/app/jobs/corrections.js';
import { correctionIdsMax } from '../../../src/domain/limits.js';
import { signedIn } from '../../support/http/dashboard.js';
import { CALLERS, detailsOf, errorOf, STATS, sharedService } from '../../support/http/http.js';

const PATH = '/v1/analytics/docs/assistant/corrections';
const JSON_TYPE = { 'content-type': 'application/json' };

/** An answer with its body as JSON. */
const read = ({ status, text }: { status: number; text: string }) => ({ status, body: JSON.parse(text) });

const wrong = { id: 'wrong', action: 'withdraw', reason: 'a bot', caller: 'bot' };

describe('corrections', () => {
  const service = sharedService({}, async ({ record }) => {
    const queries = ['web', 'api', 'slak', 'slak', 'bot'].map((caller, at) => ({
      ...{ id: `q${at}`, caller, occurredAt: `2024-01-0${at + 1}T00:00:00Z` },
    }));
    await record(queries);
  });
  const post = (body: unknown, more: object = {}) =>
    service().send({ method: 'POST', path: PATH, headers: JSON_TYPE, body: JSON.stringify(body), ...more });
  const count = async () => read(await service().send({ path: STATS })).body;

  test('are refused to keys that may not write, and read only by those that may read', async () => {
    const { keys, addKey, send } = service();
    const reader = await addKey('no-writer', { type: 'admin', scopes: ['read'] });
    const reading = await addKey('reads-docs', { type: 'reading', projectId: 'docs' });
    expect(await post(wrong, { key: keys.recording })).toMatchObject({ status: 401 });
    expect(await post(wrong, { key: reading })).toMatchObject({ status: 401 });
    expect(await post(wrong, { key: reader })).toMatchObject({ status: 403 });
    expect(await send({ path: PATH, key: keys.recording })).toMatchObject({ status: 401 });
    for (const key of [reader, reading])
      expect(await send({ path: PATH, key })).toMatchObject({ status: 200 });
    expect(await send({ path: `${PATH}/none` })).toMatchObject({ status: 404 });
  });

  test.each<[what: string, body: unknown, details: (string | RegExp)[]]>([
    ['no object', ['x'], [/^the body is not a correction/]],
    [
      'an empty object',
      {},
      [/^id: is missing/, /^reason: is missing/, /^action: is not one of withdraw, rename/],
    ],
    ['nothing to correct', { ...wrong, caller: undefined }, [/^ids: is missing, and so is every filter/]],
    ['ids and a filter', { ...wrong, ids: ['q0'] }, [/^ids: is given together with caller/]],
    ['no ids', { ...wrong, caller: undefined, ids: [] }, [/^ids: is empty$/]],
    [
      'invalid ids',
      { ...wrong, caller: undefined, ids: ['q0', 5, ''] },
      [/^ids\[1\]: is not the id of a query$/, /^ids\[2\]: is not the id of a query$/],
    ],
    [
      'too many ids',
      { ...wrong, caller: undefined, ids: Array.from({ length: correctionIdsMax + 1 }, (_, at) => `${at}`) },
      [/^ids: has 10001 ids; a correction takes 10000/],
    ],
    ['a caller that is none', { ...wrong, caller: 'My Bot' }, [/^caller: "My Bot" is not a caller/]],
    [
      'a range that ends before it begins',
      { ...wrong, dateFrom: '2024-02-01', dateTo: '2024-01-01' },
      [/^dateFrom: /],
    ],
    [
      'an hour of arrival',
      { ...wrong, recordedFrom: '2024-01-01T01:00:00Z' },
      [/^recordedFrom: .* not the start of a UTC day/],
    ],
    [
      'a mistyped field',
      { ...wrong, dateform: '2024-01-01' },
      [/^"dateform": is not a field here; did you mean dateFrom/],
    ],
    ['a rename to nobody', { ...wrong, action: 'rename' }, [/^to: is missing/]],
    ['a rename to no caller', { ...wrong, action: 'rename', to: 'My Bot' }, [/^to: is not "web"/]],
    ['a rename to the same', { ...wrong, action: 'rename', to: 'bot' }, [/^to: is the caller that/]],
    ['a withdrawal with a caller', { ...wrong, to: 'bot' }, [/^to: does not belong to withdraw$/]],
    [
      'an undo of nothing',
      { ...wrong, action: 'undo' },
      [
        /^caller: does not belong to undo/,
        /^correction: is missing; give the id of the correction to take back$/,
      ],
    ],
    ['a reason of two lines', { ...wrong, reason: 'a\nb' }, [/^reason: is not a text of one line$/]],
    ['a blank reason', { ...wrong, reason: ' ' }, [/^reason: is empty; say why/]],
    [
      'a mistyped dry run',
      { ...wrong, dryrun: true },
      [/^"dryrun": is not a field here; did you mean dryRun/],
    ],
    ['a dry run that is a text', { ...wrong, dryRun: 'yes' }, [/^dryRun: is not true or false$/]],
    [
      'an unknown query',
      { ...wrong, caller: undefined, ids: ['none'] },
      [/^ids: the project has no query "none"$/],
    ],
    ['a filter that matches nothing', { ...wrong, caller: 'nobody' }, [/^no query that counts matches/]],
    [
      'an undo of an unknown one',
      { id: 'u', action: 'undo', reason: 'x', correction: 'none' },
      [/there is no correction none/],
    ],
  ])('refuse %s, and change nothing', async (_what, body, details) => {
    const before = await count();
    for (const one of [body, { ...(body as object), dryRun: true }].slice(0, details.length === 1 ? 1 : 2)) {
      const answer = await post(one);
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatch(/^Nothing was corrected: /);
      const found = detailsOf(answer);
      expect(found).toHaveLength(details.length);
      for (const [at, detail] of details.entries()) expect(found[at]).toMatch(detail);
    }
    expect(await count()).toEqual(before);
  });

  test('show what would change, change it once, and take it back', async () => {
    const { send, keys } = service();
    const before = await count();
    const rename = { id: 'slack', action: 'rename', reason: 'a typing mistake', caller: 'slak', to: 'slack' };
    const figures = {
      queries: { web: 0, api: 0, other: 2, total: 2 },
      callers: [{ caller: 'slak', type: 'other', count: 2 }],
      ...{ otherCallers: 0, first: '2024-01-03T00:00:00.000Z', last: '2024-01-04T00:00:00.000Z' },
    };
    const { caller, ...asked } = rename;
    const shown = { ...asked, correction: null, selection: { caller }, ...figures };
    const dry = await post({ ...rename, dryRun: true });
    expect(read(dry)).toMatchObject({ status: 200, body: { ...shown, state: 'dryRun', createdAt: null } });
    expect(await count()).toEqual(before);
    const done = await post(rename);
    expect(read(done)).toMatchObject({ status: 200, body: { ...shown, state: 'done', undoneBy: null } });
    expect(read(await post(rename))).toEqual(read(done));
    expect(read(await send({ path: CALLERS })).body).toMatchObject({
      callers: expect.arrayContaining([{ caller: 'slack', type: 'other', count: 2 }]),
    });
    expect(await post({ ...rename, to: 'teams' })).toMatchObject({ status: 409 });
    const withdrawn = await post({ ...wrong, dateFrom: '2024-01-05', dateTo: '2024-01-06' });
    expect(read(withdrawn)).toMatchObject({ status: 200, body: { queries: { total: 1 } } });
    expect(await count()).toEqual({ web: 1, api: 1, other: 2, total: 4 });
    expect(read(await service().record([{ id: 'q4', caller: 'bot' }])).body).toEqual({
      recorded: 0,
      duplicates: 1,
    });
    for (const correction of ['slack', 'wrong'])
      await post({ id: `undo ${correction}`, action: 'undo', reason: 'it was right', correction });
    expect(await count()).toEqual(before);
    const list = await send({ path: PATH });
    expect(read(list).body).toMatchObject({
      next: null,
      corrections: [
        { id: 'undo wrong', action: 'undo', correction: 'wrong', selection: {} },
        { id: 'undo slack' },
        {
          id: 'wrong',
          selection: { caller: 'bot', dateFrom: '2024-01-05T00:00:00.000Z' },
          undoneBy: 'undo wrong',
        },
        { id: 'slack', undoneBy: 'undo slack', createdBy: expect.stringMatching(/^key:/) },
      ],
    });
    expect(read(await send({ path: `${PATH}/undo%20slack`, key: keys.admin }))).toMatchObject({
      body: { id: 'undo slack', state: 'done' },
    });
    expect(read(await send({ path: `${PATH}?before=2` }))).toMatchObject({
      body: { corrections: [{ id: 'slack' }] },
    });
  });

  test('are made and undone by editors with their session, in whose name they stand, and seen by viewers', async () => {
    const before = await count();
    const path = '/api/organizations/default/projects/docs/corrections';
    const editor = await signedIn(service(), 'editor@example.org', 'editor');
    const viewer = await signedIn(service(), 'viewer@example.org', 'viewer');
    const body = { ...wrong, id: 'by an editor' };
    expect(await viewer.send({ path, body })).toMatchObject({ status: 403 });
    expect(await editor.send({ path: path.replace('docs', 'none'), body })).toMatchObject({ status: 404 });
    expect(detailsOf(await editor.send({ path, body: { ...body, caller: 'nobody' } }))[0]).toMatch(
      /^no query that counts matches/,
    );
    expect(await editor.ask({ path, body: { ...body, dryRun: true } })).toMatchObject({
      ...{ state: 'dryRun', queries: { other: 1, total: 1 } },
    });
    expect(await count()).toEqual(before);
    const done = await editor.ask({ path, body });
    expect(done).toMatchObject({ state: 'done', createdBy: 'editor@example.org' });
    expect(await count()).toMatchObject({ total: before.total - 1 });
    const undo = { id: 'undone by an editor', action: 'undo', reason: 'it was right', correction: body.id };
    await editor.ask({ path, body: undo });
    expect(await count()).toEqual(before);
    const listed = await viewer.ask<{ corrections: object[] }>({ path });
    expect(listed).toEqual(read(await service().send({ path: PATH })).body);
    expect(listed.corrections.slice(0, 2)).toMatchObject([{ id: undo.id }, { ...done, undoneBy: undo.id }]);
  });

  test('that a server left unfinished are finished by the job of any other', async () => {
    const { store, clock } = service();
    const before = await count();
    const selection = { ids: ['q0'] };
    const by = { name: 'a server that crashed', address: null, at: 0 };
    await store.corrections.accept('docs', { id: 'left', reason: 'x', action: 'withdraw', selection }, by);
    const left = { path: `${PATH}/left` };
    expect(read(await service().send(left)).body).toMatchObject({ state: 'running', finishedAt: null });
    const stop = new AbortController();
    const clockOf = { now: () => clock.nowMs };
    const log = { info: () => {}, warn: () => {} };
    const pause = async () => stop.abort();
    await runCorrections({ store, clock: clockOf }, { signal: stop.signal, log, pause });
    expect(read(await service().send(left)).body).toMatchObject({
      state: 'done',
      queries: { web: 1, total: 1 },
    });
    await post({ id: 'not left', action: 'undo', reason: 'x', correction: 'left' });
    expect(await count()).toEqual(before);
  });
});
