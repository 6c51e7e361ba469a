/** Every state of every kind of key, from inside and outside its allowlist, at everything that one may try with it. */
import { describe, expect, test } from 'vitest';
import { lastUsedIntervalMs } from '../../src/domain/limits.js';
import { errorOf, type Service, sharedService, startMs, type TestRequest } from '../support/http.js';
import { requireIs } from '../support/http-checks.js';
import type { KeyRequest } from '../support/http-keys.js';
import {
  type AskedFor,
  type Expected,
  expected,
  HOLDERS,
  type Holder,
  PLACES,
  REQUESTS,
  STATES,
  type State,
} from '../support/key-oracle.js';

const bodyBytesMax = 200;
const json = { 'content-type': 'application/json' };

/** What the store is asked for by a request that is taken: one of these, once. Series without bounds begin with an extent. */
const WORK = ['record', 'count', 'findExtent', 'countCallers'];

let made = 0;

/** A key of this kind and state, as it is sent. Which id it has in the store, where it is there. */
async function keyOf(
  { addKey, keys }: Service,
  state: State,
  { organization, project, scopes }: Holder,
  allow: readonly string[],
): Promise<{ secret: string; id: string }> {
  const id = `matrix-${made++}`;
  const wish: KeyRequest = {
    type: project === undefined ? 'admin' : 'recording',
    organizationId: organization,
    projectId: project ?? null,
    ...(scopes === undefined ? {} : { scopes }),
    allow,
    ...{ disabled: { disabledAt: startMs - 1 }, expired: { expiresAt: startMs } }[state as string],
    ...(state === 'revoked' ? { revokedAt: startMs - 1 } : {}),
  };
  if (state === 'unknown')
    return { secret: project === undefined ? keys.unknown : keys.unknownRecording, id };
  const secret = await addKey(id, wish);
  const last = secret.endsWith('0') ? '1' : '0';
  return { secret: state === 'malformed' ? secret.slice(0, -1) + last : secret, id };
}

let asked = 0;

/** The request in full. What has no fault would be taken as it is. */
function requestOf({ method, operation, project, fault }: AskedFor): TestRequest {
  const path = `/v1/analytics/${project}/assistant/${operation}${fault === 'parameter' ? '?dateFrom=x&y=1' : ''}`;
  if (method === 'GET' || method === 'HEAD') return { method, path };
  const body = `{"id":"${asked++}","caller":"web"}`;
  switch (fault) {
    case 'type':
      return { method, path, headers: { 'content-type': 'text/csv' }, body };
    case 'type and size':
      return { method, path, headers: { 'content-type': 'text/csv' }, body: body.padEnd(bodyBytesMax + 1) };
    case 'encoding':
      return { method, path, headers: { ...json, 'content-encoding': 'br' }, body };
    case 'size and body':
      return { method, path, headers: json, body: '{'.padEnd(bodyBytesMax + 1) };
    case 'body':
      return { method, path, headers: json, body: '{"id":"","caller":"web"}' };
    default:
      return { method, path, headers: json, body };
  }
}

describe.each(Object.entries(HOLDERS))('%s', (_what, holder) => {
  const service = sharedService({ limits: { bodyBytesMax } });

  test.each(STATES)('%s: refused or taken as it should be, everywhere', async (state) => {
    const { store } = service();
    const queriesBefore = (await store.verify()).queries;
    const seen: Seen = { recorded: 0, lastUsed: new Map() };
    for (const place of PLACES) {
      const key = await keyOf(service(), state, holder, place.allow);
      seen.lastUsed.set(key.id, null);
      for (const one of REQUESTS) {
        await tryIt(
          service(),
          { ...key, ...place, one, should: expected(state, holder, place.inside, one) },
          seen,
        );
      }
    }
    const kept = (await store.listKeys(holder.organization)).filter(({ id }) => seen.lastUsed.has(id));
    for (const { id, lastUsedAt } of kept) expect(lastUsedAt, id).toBe(seen.lastUsed.get(id));
    expect((await store.verify()).queries - queriesBefore).toBe(seen.recorded);
  });
});

/** What the store must have in the end. */
interface Seen {
  recorded: number;
  readonly lastUsed: Map<string, number | null>;
}

/** Sends one request, long enough after the one before for a use to be noted, and checks what became of it. */
async function tryIt(
  { send, calls, clock }: Service,
  cell: { secret: string; id: string; from: string; one: AskedFor; should: Expected },
  seen: Seen,
): Promise<void> {
  const { secret, id, from, one, should } = cell;
  clock.nowMs += lastUsedIntervalMs;
  const answer = await send({ ...requestOf(one), key: secret, from });
  const about = `${JSON.stringify(one)} from ${from}: ${answer.text}`;
  requireIs(answer.status, should.status, about);
  if (one.method !== 'HEAD' && should.says !== undefined) expect(errorOf(answer), about).toMatch(should.says);
  const used = should.status !== 401 && should.status !== 403;
  const touches = calls.filter(({ method }) => method === 'touchKey');
  await Promise.all(touches.map(({ result }) => result));
  requireIs(touches.length, used ? 1 : 0, `uses noted of ${about}`);
  if (used) seen.lastUsed.set(id, clock.nowMs);
  const work = calls.filter(({ method }) => WORK.includes(method));
  requireIs(work.length, should.status === 200 ? 1 : 0, `work of the store for ${about}`);
  if (should.status === 200 && one.operation === 'queries') seen.recorded++;
}

describe('what needs no key takes no notice of one', () => {
  const service = sharedService();
  test.each<[string, TestRequest, number]>([
    ['livez', { path: '/livez' }, 200],
    ['HEAD of livez', { method: 'HEAD', path: '/livez' }, 200],
    ['readyz', { path: '/readyz' }, 200],
    ['the document', { path: '/openapi.json' }, 200],
    ['the docs', { path: '/docs/' }, 200],
    ['the page to try the API', { path: '/docs/try' }, 200],
    ['a wrong method', { method: 'POST', path: '/livez' }, 405],
    ['no route', { path: '/v1/keys' }, 404],
    ['a route that only begins like one', { path: '/v1/analytics/docs/assistant' }, 404],
    ['reading leaked keys', { path: '/v1/leaked-keys' }, 405],
  ])('%s', async (_what, request, status) => {
    for (const holder of Object.values(HOLDERS)) {
      for (const state of STATES) {
        const { secret } = await keyOf(service(), state, holder, ['192.0.2.1']);
        const { send, calls } = service();
        expect((await send({ ...request, key: secret, from: '203.0.113.9' })).status).toBe(status);
        expect(calls.filter(({ method }) => method !== 'check')).toEqual([]);
      }
    }
  });
});
