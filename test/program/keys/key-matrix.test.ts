/** Every state of every kind of key, from inside and outside its allowlist, with every request. */
import { describe, expect, test } from 'vitest';
import { lastUsedIntervalMs } from '../../../src/domain/limits.js';
import { errorOf, type Service, sharedService, startMs, type TestRequest } from '../../support/http/http.js';
import { requireIs } from '../../support/http/http-checks.js';
import type { KeyRequest } from '../../support/http/http-keys.js';
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
} from '../../support/http/key-oracle.js';
import { isDeep } from '../../support/volume.js';

const bodyBytesMax = 200;
const json = { 'content-type': 'application/json' };

/** An accepted request makes one of these calls of the store. */
const WORK = ['record', 'count', 'findExtent', 'countCallers', 'readQueries'];

let made = 0;

/** Creates a key of this kind and state; an unknown or malformed one is not in the store. */
async function createKey(
  { addKey, keys }: Service,
  state: State,
  { organization, type, project, scopes }: Holder,
  allow: readonly string[],
): Promise<{ secret: string; id: string }> {
  const id = `matrix-${made++}`;
  const wish: KeyRequest = {
    type: type ?? (project === undefined ? 'admin' : 'recording'),
    organizationId: organization,
    projectId: project ?? null,
    ...(scopes === undefined ? {} : { scopes }),
    allow,
    ...{ disabled: { disabledAt: startMs - 1 }, expired: { expiresAt: startMs } }[state as string],
    ...(state === 'revoked' ? { revokedAt: startMs - 1 } : {}),
  };
  if (state === 'unknown') {
    const unknown = { admin: keys.unknown, recording: keys.unknownRecording, reading: keys.unknownReading };
    return { secret: unknown[wish.type], id };
  }
  const secret = await addKey(id, wish);
  const last = secret.endsWith('0') ? '1' : '0';
  return { secret: state === 'malformed' ? secret.slice(0, -1) + last : secret, id };
}

let asked = 0;

/** Builds a request, with the fault if there is one. */
function buildRequest({ method, operation, project, fault }: AskedFor): TestRequest {
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

/**
 * `npm test` sends each request from one of the nine places, inside or outside the allowlist. Which one differs between the
 * kinds and states of keys, so that the matrix includes each pair of request and place.
 */
const placesStep = isDeep ? 1 : PLACES.length;

describe.each(Object.entries(HOLDERS).map(([what, holder], index) => [what, holder, index] as const))(
  '%s',
  (_what, holder, holderIndex) => {
    const service = sharedService({ limits: { bodyBytesMax } });

    test.each(STATES.map((state, index) => [state, index] as const))(
      'that is %s is accepted or rejected as specified',
      async (state, stateIndex) => {
        const { store } = service();
        const queriesBefore = (await store.maintenance.verify()).queries;
        const seen: Seen = { recorded: 0, lastUsed: new Map() };
        for (const [placeIndex, place] of PLACES.entries()) {
          const key = await createKey(service(), state, holder, place.allow);
          seen.lastUsed.set(key.id, null);
          for (const [index, one] of REQUESTS.entries()) {
            if ((index + placeIndex + holderIndex + stateIndex) % placesStep !== 0) continue;
            const should = expected(state, holder, place.inside, one);
            await tryRequest(service(), { ...key, ...place, one, should }, seen);
          }
        }
        const stored = (await store.directory.listKeys(holder.organization)).filter(({ id }) =>
          seen.lastUsed.has(id),
        );
        for (const { id, lastUsedAt } of stored) expect(lastUsedAt, id).toBe(seen.lastUsed.get(id));
        expect((await store.maintenance.verify()).queries - queriesBefore).toBe(seen.recorded);
      },
    );
  },
);

/** What the store must contain at the end. */
interface Seen {
  recorded: number;
  readonly lastUsed: Map<string, number | null>;
}

/** Sends a request, late enough for the key's use to be stored again, and checks the response and the store's calls. */
async function tryRequest(
  { send, calls, clock }: Service,
  cell: { secret: string; id: string; from: string; one: AskedFor; should: Expected },
  seen: Seen,
): Promise<void> {
  const { secret, id, from, one, should } = cell;
  clock.nowMs += lastUsedIntervalMs;
  const answer = await send({ ...buildRequest(one), key: secret, from });
  const about = `${JSON.stringify(one)} from ${from}: ${answer.text}`;
  requireIs(answer.status, should.status, about);
  if (one.method !== 'HEAD' && should.says !== undefined) expect(errorOf(answer), about).toMatch(should.says);
  const used = should.status !== 401 && should.status !== 403;
  const touches = calls.filter(({ method }) => method === 'touchKey');
  await Promise.all(touches.map(({ result }) => result));
  requireIs(touches.length, used ? 1 : 0, `uses stored for ${about}`);
  if (used) seen.lastUsed.set(id, clock.nowMs);
  const work = calls.filter(({ method }) => WORK.includes(method));
  // What arrived is read from a part of the store whose calls are not noted.
  const worked = should.status === 200 && one.operation !== 'ingestion';
  requireIs(work.length, worked ? 1 : 0, `calls of the store for ${about}`);
  if (should.status === 200 && one.operation === 'queries' && one.method === 'POST') seen.recorded++;
}

describe('a path that needs no key ignores any key:', () => {
  const secrets: string[] = [];
  const service = sharedService({}, async (started) => {
    for (const holder of Object.values(HOLDERS)) {
      for (const state of STATES)
        secrets.push((await createKey(started, state, holder, ['192.0.2.1'])).secret);
    }
  });
  test.each<[string, TestRequest, number]>([
    ['livez', { path: '/livez' }, 200],
    ['HEAD livez', { method: 'HEAD', path: '/livez' }, 200],
    ['readyz', { path: '/readyz' }, 200],
    ['the OpenAPI document', { path: '/openapi.json' }, 200],
    ['the docs', { path: '/docs/' }, 200],
    ['the page to try the API', { path: '/docs/try' }, 200],
    ['a wrong method', { method: 'POST', path: '/livez' }, 405],
    ['an unknown path', { path: '/v1/keys' }, 404],
    ['the beginning of a path', { path: '/v1/analytics/docs/assistant' }, 404],
  ])('%s', async (_what, request, status) => {
    const { send, calls } = service();
    for (const key of secrets)
      expect((await send({ ...request, key, from: '203.0.113.9' })).status).toBe(status);
    expect(calls.filter(({ method }) => !method.startsWith('check'))).toEqual([]);
  });
});
