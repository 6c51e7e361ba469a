/**
 * A recording is authorized with what an earlier request found, and the store is asked whether that is still so when it records. Answers
 * must be those of a service that has just started, whatever another node has changed meanwhile.
 */
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import {
  QUERIES,
  type Service,
  type ServiceOptions,
  startMs,
  startService,
} from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';
import { withFile } from '../../support/storage/sqlite-file.js';
import { by, databases, onDatabase, openForTest, schemaOf } from '../../support/storage/store.js';

const json = { 'content-type': 'application/json' };

const queryOf = (id: string) => ({ id, caller: 'web', occurredAt: '2026-06-15T11:00:00Z' });

const recordingOf = (key: string, body: string, headers: Readonly<Record<string, string>> = json) => ({
  ...{ method: 'POST', path: QUERIES, key, headers, body },
});

/** A service that knows a recording key and the project `docs`, one that has just started, and a store as another node has it. */
async function startTwo(database: string | undefined, options: ServiceOptions = {}) {
  const known = await startService({ ...options, database, ownFile: true });
  const key = await known.addKey('sender', { type: 'recording', projectId: 'docs' });
  await learn(known, key);
  const again = { ...options, database: known.databaseUrl, keys: known.keys };
  const other = await openForTest(known.databaseUrl);
  return { known, key, other, startNew: () => startService(again) };
}

/** Sends recordings until the service looks no key up for one. Noting the first use of the key changes what is known of it. */
async function learn({ send, calls }: Service, key: string, from = '127.0.0.1'): Promise<void> {
  for (const id of ['first', 'second', 'first', 'second']) {
    calls.length = 0;
    const request = recordingOf(key, JSON.stringify(queryOf(id)));
    expect(await send({ ...request, from })).toMatchObject({ status: 200 });
    if (calls.every(({ method }) => method === 'record')) return;
  }
  throw new Error('the service looks up the key each time');
}

/**
 * What the client gets, but for the time, and whether the connection stays: after a body that cannot be parsed it does not. The new service
 * has counted no request before.
 */
const shown = ({ status, text, headers: { date: _, connection: __, ratelimit, ...headers } }: Answer) => ({
  ...{ status, text, headers, isCounted: ratelimit !== undefined },
});

const projectChange = (change: object) => (store: Store) =>
  store.directory.changeProject('default', 'docs', change, by);

const CHANGES: readonly (readonly [what: string, change: (store: Store, key: string) => Promise<unknown>])[] =
  [
    ['a revoked key', ({ directory }, key) => directory.changeKey('default', key, 'revoke', by)],
    ['a disabled key', ({ directory }, key) => directory.changeKey('default', key, 'disable', by)],
    ['a deleted project', ({ directory }) => directory.deleteProject('default', 'docs', by).catch(() => {})],
    ['a project for later queries', projectChange({ earliestAt: Date.parse('2026-06-15T11:30:00Z') })],
  ];

interface Sent {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

const SENT: Readonly<Record<string, Sent>> = {
  good: { body: JSON.stringify(queryOf('third')) },
  broken: { body: '{' },
  wrong: { body: '{"id":"third"}' },
  text: { body: 'third', headers: { 'content-type': 'text/plain' } },
  encoded: { body: 'third', headers: { ...json, 'content-encoding': 'br' } },
  more: { body: JSON.stringify(queryOf('third')), query: '?a=b' },
};

/** As a node of another version does. */
async function addToSchemaVersion(url: string, more: 1 | -1): Promise<void> {
  const file = /^sqlite:(.*)/.exec(url)?.[1];
  const version = NEWEST_VERSION + Math.max(more, 0);
  if (file !== undefined) return withFile(file, (db) => db.exec(`PRAGMA user_version = ${version}`));
  await onDatabase(url, (client) =>
    client.query(`UPDATE ${schemaOf(url)}.schema_version SET version = version + ${more}`),
  );
}

describe.each(databases)('on %s', (_kind, newDatabase) => {
  test.each(CHANGES)(
    '%s of another node gives the answers of a service that has just started',
    async (_, change) => {
      const { known, other, startNew } = await startTwo(newDatabase(), { limits: { requestsPerMinute: 99 } });
      const fresh = await startNew();
      const keys = new Map<string, string>();
      for (const name of Object.keys(SENT)) {
        const key = await known.addKey(name, { type: 'admin', expiresAt: startMs + dayMs });
        await learn(known, key);
        keys.set(name, key);
      }
      for (const name of keys.keys()) await change(other, name);
      for (const [name, { body, headers, query = '' }] of Object.entries(SENT)) {
        const key = keys.get(name) ?? '';
        const request = { ...recordingOf(key, body, headers), path: `${QUERIES}${query}` };
        const expected = await fresh.send(request);
        expect(shown(await known.send(request)), name).toEqual(shown(expected));
        expect(expected.status).toBeGreaterThanOrEqual(400);
      }
      expect((await other.counts.count('docs', ALL_TIME)).total).toBeLessThanOrEqual(2);
    },
  );

  test('a key from another address is refused, and so is one that has just expired', async () => {
    const { known, other } = await startTwo(newDatabase());
    const allow = ['192.0.2.1'];
    const key = await known.addKey('near', { type: 'admin', allow, expiresAt: known.clock.nowMs + 10 });
    const request = recordingOf(key, JSON.stringify(queryOf('third')));
    await learn(known, key, allow[0]);
    expect(await known.send({ ...request, from: '192.0.2.2' })).toMatchObject({ status: 403 });
    await learn(known, key, allow[0]);
    known.clock.nowMs += 10;
    expect(await known.send({ ...request, from: '192.0.2.1' })).toMatchObject({ status: 401 });
    expect((await other.counts.count('docs', ALL_TIME)).total).toBe(2);
  });

  test('no request counts twice, or for a revoked key, in the rate limit of its organization', async () => {
    const { known, key, other } = await startTwo(newDatabase(), { limits: { requestsPerMinute: 20 } });
    const later = await known.addKey('later', { type: 'admin' });
    await learn(known, later);
    const send = (one: string) => known.send(recordingOf(one, JSON.stringify(queryOf('first'))));
    const left = async () => Number(/r=(\d+)/.exec((await send(key)).headers['ratelimit'] ?? '')?.[1]);
    const before = await left();
    // Now it is another key than the service knows, and still allowed.
    await other.directory.touchKey('sender', 1);
    expect(await left()).toBe(before - 1);
    await other.directory.changeKey('default', 'later', 'revoke', by);
    expect(await send(later)).toMatchObject({ status: 401 });
    expect(await left()).toBe(before - 2);
    for (let more = before - 2; more > 0; more--) expect(await send(key)).toMatchObject({ status: 200 });
    expect(await send(key)).toMatchObject({ status: 429 });
  });

  test('a revoked key beside one that is not: the queries of the other are recorded once', async () => {
    const { known, key, other } = await startTwo(newDatabase());
    const beside = await known.addKey('beside', { type: 'admin' });
    const send = (one: string, id: string) => known.send(recordingOf(one, JSON.stringify(queryOf(id))));
    await learn(known, beside);
    await other.directory.changeKey('default', 'sender', 'revoke', by);
    const sent = Array.from({ length: 20 }, (_, at) => send(at % 2 === 0 ? key : beside, `q${at}`));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses).toEqual(statuses.map((_, at) => (at % 2 === 0 ? 401 : 200)));
    expect((await other.counts.count('docs', ALL_TIME)).total).toBe(2 + 10);
  });

  test('records nothing once another node has changed the schema', async () => {
    const { known, key } = await startTwo(newDatabase());
    await addToSchemaVersion(known.databaseUrl, 1);
    expect(await known.send(recordingOf(key, JSON.stringify(queryOf('third'))))).toMatchObject({
      status: 503,
    });
    await addToSchemaVersion(known.databaseUrl, -1);
    expect(await known.send(recordingOf(key, JSON.stringify(queryOf('third'))))).toMatchObject({
      status: 200,
      text: '{"recorded":1,"duplicates":0}',
    });
  });

  test('a time that another node has just allowed is recorded', async () => {
    const { known, key, other } = await startTwo(newDatabase());
    await projectChange({ earliestAt: Date.parse('2026-06-15T10:00:00Z') })(other);
    await learn(known, key);
    const early = JSON.stringify({ ...queryOf('third'), occurredAt: '2026-06-15T09:00:00Z' });
    expect(await known.send(recordingOf(key, early))).toMatchObject({ status: 400 });
    await learn(known, key);
    await projectChange({ earliestAt: null })(other);
    expect(await known.send(recordingOf(key, early))).toMatchObject({ status: 200 });
  });

  test('looks the key up once for several recordings', async () => {
    const { known, key } = await startTwo(newDatabase());
    known.calls.length = 0;
    for (const id of ['third', 'fourth'])
      expect(await known.send(recordingOf(key, JSON.stringify(queryOf(id))))).toMatchObject({ status: 200 });
    expect(known.calls.map(({ method }) => method)).toEqual(['record', 'record']);
  });
});
