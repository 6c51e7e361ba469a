/**
 * The dashboard's routes for keys: what they read, return and change. `test/domain` and `test/conformance/keys.ts` have the
 * rules of keys, `key-matrix.test.ts` what a key may do, `test/program/attacks/foreign-ids.test.ts` keys of other organizations.
 */
import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Io } from '../../../src/cli/io.js';
import { run } from '../../../src/cli/program.js';
import { listsMax, waitingReportsMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { auditOf, type Browser, signedIn } from '../../support/http/dashboard.js';
import { detailsOf, type Service, startMs, startService } from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';
import { root } from '../../tidy/sources.js';

const KEYS = '/api/organizations/default/keys';
interface Key {
  readonly id: string;
  readonly [field: string]: unknown;
}

async function start(options = {}): Promise<{ service: Service; editor: Browser }> {
  const service = await startService(options);
  return { service, editor: await signedIn(service, 'ada@example.org', 'editor') };
}

/** Creates or rotates a key. From now on, no response may contain its secret. */
async function createKey(service: Service, editor: Browser, body: object, path = KEYS) {
  const made = await editor.ask<{ key: Key; secret: string }>({ path, body }, 201);
  service.hideKey(made.secret);
  return made;
}

async function findKey(editor: Browser, id: string): Promise<Key | undefined> {
  const { keys } = await editor.ask<{ keys: Key[] }>({ path: KEYS });
  return keys.find((key) => key.id === id);
}

test('of the lists that are asked for at once, a few are read, and organizations take turns', async () => {
  const { service, editor } = await start();
  const rival = await signedIn(service, 'eve@example.org', 'editor', { organization: 'rival' });
  const hold = holdCalls(service, 'listKeys');
  const asked = Array.from({ length: listsMax + waitingReportsMax }, () => editor.send({ path: KEYS }));
  await hold.reached(listsMax);
  expect((await editor.send({ path: KEYS })).status).toBe(503);
  const others = [rival.send({ path: KEYS.replace('default', 'rival') })];
  expect((await rival.send({ path: '/api/organizations/rival/audit' })).status).toBe(200);
  hold.release();
  expect(new Set((await Promise.all([...asked, ...others])).map(({ status }) => status))).toEqual(
    new Set([200]),
  );
});

test('the dashboard rejects a key with invalid fields, and names each of them', async () => {
  const { service, editor } = await start({ keyLifeMax: 30 * dayMs });
  const before = await service.store.directory.listKeys('default');
  const cases: readonly (readonly [body: unknown, expected: readonly RegExp[]])[] = [
    [{}, [/^name: /, /^type: /]],
    [
      { name: '', type: 'root', projectId: 1, expires: 5, scopes: 'read', allow: [1], Name: 'x' },
      [
        /^"Name": .*did you mean name\?/,
        /^name: /,
        /^type: /,
        /^projectId: /,
        /^expires: /,
        /^scopes: /,
        /^allow: /,
      ],
    ],
    [
      {
        name: 'k',
        type: 'admin',
        projectId: 'docs',
        expires: 'soon',
        scopes: ['admin'],
        allow: ['0.0.0.0/0'],
      },
      [/^project: /, /^scope: /, /^expires: /, /^allow: /],
    ],
    [{ name: 'k', type: 'admin', expires: '31d' }, [/^expires: is later than the longest life/]],
  ];
  for (const [body, expected] of cases) {
    const answer = await editor.send({ path: KEYS, body });
    expect(answer.status, JSON.stringify(body)).toBe(400);
    expect(detailsOf(answer)).toEqual(expected.map((one) => expect.stringMatching(one) as string));
  }
  const foreign = { name: 'k', type: 'recording', projectId: 'rival-docs' };
  expect((await editor.send({ path: KEYS, body: foreign })).status).toBe(404);
  expect(await service.store.directory.listKeys('default')).toEqual(before);
});

describe('a created key', () => {
  test('is returned with its settings, works, and is listed without its secret', async () => {
    const { service, editor } = await start();
    const admin = await createKey(service, editor, {
      name: 'Export',
      type: 'admin',
      expires: '7d',
      scopes: ['read'],
      allow: ['127.0.0.1'],
    });
    expect(admin.key).toEqual({
      id: expect.stringMatching(/^[0-9a-z]{16}$/),
      name: 'Export',
      type: 'admin',
      project: null,
      start: admin.secret.slice(0, 13),
      end: admin.secret.slice(-4),
      scopes: ['read'],
      allow: ['127.0.0.1'],
      status: 'active',
      createdBy: 'ada@example.org',
      createdAt: new Date(startMs).toISOString(),
      expiresAt: new Date(startMs + 7 * dayMs).toISOString(),
      lastUsedAt: null,
      disabledAt: null,
      revokedAt: null,
      successor: null,
    });
    expect((await service.send({ key: admin.secret })).status).toBe(200);
    // Its use is noted after the answer.
    const used = { ...admin.key, lastUsedAt: new Date(startMs).toISOString() };
    await expect.poll(() => findKey(editor, admin.key.id)).toEqual(used);
    const recording = await createKey(service, editor, { name: 'r', type: 'recording', projectId: 'docs' });
    expect(await findKey(editor, recording.key.id)).toMatchObject({ project: 'docs', scopes: ['write'] });
  });

  test('is disabled, enabled and revoked with immediate effect, and each change is audited', async () => {
    const { service, editor } = await start();
    const { key, secret } = await createKey(service, editor, { name: 'k', type: 'admin' });
    const change = (what: string) => editor.ask<Key>({ path: `${KEYS}/${key.id}/${what}`, body: {} });
    const status = async () => (await service.send({ key: secret })).status;
    expect(await change('disable')).toMatchObject({ status: 'disabled' });
    expect(await status()).toBe(401);
    expect(await change('enable')).toMatchObject({ status: 'active', disabledAt: null });
    expect(await status()).toBe(200);
    expect(await change('revoke')).toMatchObject({ status: 'revoked' });
    expect(await status()).toBe(401);
    const entries = (await auditOf(service)).filter(({ targetId }) => targetId === key.id);
    expect(entries.map(({ action }) => action)).toEqual([
      'key.revoke',
      'key.enable',
      'key.disable',
      'key.create',
    ]);
    for (const entry of entries)
      expect(entry).toMatchObject({ actor: 'ada@example.org', address: editor.from, at: startMs });
  });

  test('is rotated once; the old one works until the end of the grace period', async () => {
    const { service, editor } = await start();
    const { key, secret } = await createKey(service, editor, { name: 'k', type: 'admin', expires: '30d' });
    const path = `${KEYS}/${key.id}/rotate`;
    for (const graceHours of [1.5, 721, '24', null]) {
      const answer = await editor.send({ path, body: { graceHours } });
      expect([answer.status, detailsOf(answer)]).toEqual([
        400,
        ['graceHours: is not a whole number of hours from 0 to 720'],
      ]);
    }
    const next = await createKey(service, editor, { graceHours: 2 }, path);
    expect(next.key).toMatchObject({ name: 'k', expiresAt: new Date(startMs + 30 * dayMs).toISOString() });
    expect(await findKey(editor, key.id)).toMatchObject({ successor: next.key.id });
    expect((await editor.send({ path, body: { graceHours: 2 } })).status).toBe(400);
    expect((await service.send({ key: secret })).status).toBe(200);
    service.clock.nowMs += 2 * 3_600_000;
    expect(await findKey(editor, key.id)).toMatchObject({ status: 'expired' });
    expect((await service.send({ key: next.secret })).status).toBe(200);
  });

  test('expires at the end of the longest life', async () => {
    const { service, editor } = await start({ keyLifeMax: 30 * dayMs });
    expect((await editor.ask({ path: '/api/session' }))['keys']).toEqual({
      prefix: 'cs',
      lifeDaysMax: 30,
      expiryDays: [7, 30],
      expiryDefaults: { admin: '30d', recording: '30d', reading: '30d' },
      graceDaysMax: 30,
    });
    const { key } = await createKey(service, editor, { name: 'k', type: 'admin' });
    expect(key['expiresAt']).toBe(new Date(startMs + 30 * dayMs).toISOString());
  });

  test('of a recording key has no expiry, and of the others one, unless the request says otherwise', async () => {
    const { service, editor } = await start();
    const of = async (fields: object) =>
      (await createKey(service, editor, { name: 'k', ...fields })).key['expiresAt'];
    const recording = { type: 'recording', projectId: 'docs' };
    expect(await of(recording)).toBeNull();
    expect(await of({ ...recording, expires: '30d' })).toBe(new Date(startMs + 30 * dayMs).toISOString());
    for (const type of [{ type: 'admin' }, { type: 'reading', projectId: 'docs' }])
      expect(await of(type)).toBe(new Date(startMs + 90 * dayMs).toISOString());
  });
});

test('the command line prints the same JSON of keys and projects', async () => {
  const { service, editor } = await start();
  await createKey(service, editor, { name: 'r', type: 'recording', projectId: 'docs' });
  const printed = async (command: string): Promise<unknown> => {
    const stdout = new PassThrough();
    const io: Io = {
      ...{
        stdout,
        stderr: new PassThrough(),
        stdin: new PassThrough(),
        stdoutIsTerminal: false,
        interactive: false,
        colors: false,
      },
      ...{ env: {}, clock: { now: () => service.clock.nowMs }, monotonicMs: () => 0, randomInt: () => 0 },
      stopRequested: () => new Promise(() => undefined),
      onHangup: () => undefined,
      packageFolder: pathToFileURL(`${root}/`),
    };
    const status = await run([command, 'list', '--json', '--database', service.databaseUrl], io, '1.2.3');
    expect(status).toBe(0);
    stdout.end();
    return json(stdout);
  };
  const { keys } = await editor.ask<{ keys: Key[] }>({ path: KEYS });
  expect(keys.find(({ name }) => name === 'r')?.['project']).toBe('docs');
  expect(await printed('key')).toEqual(keys);
  const { projects } = await editor.ask<{ projects: object[] }>({
    path: '/api/organizations/default/projects',
  });
  expect(await printed('project')).toEqual(projects);
});
