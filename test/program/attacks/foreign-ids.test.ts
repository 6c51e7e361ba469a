/**
 * Ids of others in every place where a request has one: a member and a key of another organization reach nothing, and change
 * nothing. The cases come from the tables of routes, so that a new route without a row fails. `test/program/dashboard/access.test.ts`
 * has the organizations of others, and `test/program/keys/key-matrix.test.ts` the states of keys.
 */
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { DASHBOARD_ROUTES, type DashboardRoute } from '../../support/http/dashboard-routes.js';
import { type Service, sharedService, type TestRequest } from '../../support/http/http.js';
import { by, projectOf, shareLinkOf } from '../../support/storage/entities.js';
import { notificationOf } from '../../support/storage/notifications.js';
import { memberOf, runOnUsers } from '../../support/users/people.js';
import { codesOf } from '../../support/users/visitor.js';

const [ada, eve] = ['ada@example.org', 'eve@example.org'] as const;

const service = sharedService();
let owner: Browser;
let attacker: Browser;
let backupCodes: readonly string[];

beforeAll(async () => {
  owner = await signedIn(service(), ada, 'owner');
  attacker = await signedIn(service(), eve, 'owner', { organization: 'rival' });
  const start = { path: '/api/account/second-factor/start', body: { password: PASSWORD } };
  const started = await owner.ask<{ uri: string; backupCodes: string[] }>(start);
  // A code does not outlive its half minute.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const body = { code: codesOf(started.uri)(Date.now()) };
  await owner.ask({ path: '/api/account/second-factor/confirm', body }, 204);
  vi.useRealTimers();
  backupCodes = started.backupCodes;
});

function takeBackupCode(): string {
  const [code = '', ...others] = backupCodes;
  backupCodes = others;
  return code;
}

/** Signs the owner in with another browser, which is trusted from then on; returns the ids of the session and the device. */
async function signInElsewhere(): Promise<{ readonly sessionId: string; readonly deviceId: string }> {
  const browser = new Browser(service());
  await browser.signIn(ada);
  const body = { code: takeBackupCode(), trustDevice: true };
  await browser.ask({ path: '/api/sign-in/second-factor', body }, 204);
  const { sessions } = await browser.ask<{ sessions: { id: string; current: boolean }[] }>({
    path: '/api/sessions',
  });
  const { devices } = await browser.ask<{ devices: { id: string }[] }>({ path: '/api/trusted-devices' });
  return { sessionId: sessions.find(({ current }) => current)?.id ?? '', deviceId: devices[0]?.id ?? '' };
}

let made = 0;

/** Creates something of the owner's organization for each parameter that a path may have, and returns its id. */
const CREATE: Readonly<Record<string, (service: Service) => Promise<string>>> = {
  projectId: async ({ store }) => {
    const id = `victim-${made++}`;
    await store.directory.createProject(projectOf(id), by);
    return id;
  },
  keyId: async ({ addKey }) => {
    const id = `victim-${made++}`;
    await addKey(id, { type: 'admin' });
    return id;
  },
  shareLinkId: async ({ store }) => {
    const id = `victim-${made++}`;
    await store.directory.createShareLink(shareLinkOf(id, 'docs'), by);
    return id;
  },
  email: async ({ store }) => {
    const email = `victim-${made++}@example.org`;
    await store.directory.addMember(memberOf(email), by);
    return email;
  },
  invitationId: async (shared) => {
    await invite(shared, `victim-${made++}@example.org`, 'viewer');
    return (await shared.store.directory.listInvitations('default', shared.clock.nowMs)).at(-1)?.id ?? '';
  },
  notificationId: async ({ store }) => {
    const id = `victim-${made++}`;
    await store.notifications.create(notificationOf(id, { checkAt: Date.UTC(2100, 0, 1) }), by);
    return id;
  },
  sessionId: async () => (await signInElsewhere()).sessionId,
  deviceId: async () => (await signInElsewhere()).deviceId,
  applicationId: async ({ store, clock }) => {
    const id = `victim${made++}`;
    const now = (ahead: number) => new Date(clock.nowMs + ahead).toISOString();
    await runOnUsers(
      store,
      `INSERT INTO {user_verification} (id, identifier, value, expires_at, created_at, updated_at)
       SELECT ?, ?, id, ?, ?, ? FROM {user_account} WHERE email = ?`,
      [id, `application-${id}.0`, now(dayMs), now(0), now(0), ada],
    );
    return id;
  },
  passkeyId: async ({ store }) => {
    const id = `victim-${made++}`;
    await runOnUsers(
      store,
      `INSERT INTO {user_passkey} (id, user_id, name, relying_party_id, credential_id, public_key, counter, transports, created_at)
       SELECT ?, id, 'Key', 'localhost', ?, 'none', 0, '[]', created_at FROM {user_account} WHERE email = ?`,
      [id, id, ada],
    );
    return id;
  },
};

const digest = { kind: 'digest', period: 'week', timeZone: 'UTC', channel: 'webhook' };

/** Bodies that the owner's own requests succeed with. `id` is that of the path. */
const BODIES: Readonly<Record<string, (id: string) => object>> = {
  'PATCH /projects/:projectId': () => ({ name: 'Mine' }),
  'DELETE /projects/:projectId': (id) => ({ name: id }),
  'POST /projects/:projectId/share-links': () => ({ name: 'Mine' }),
  'POST /projects/:projectId/corrections': () => ({
    ...{ id: 'mine', action: 'withdraw', reason: 'a test', caller: 'web', dryRun: true },
  }),
  'POST /projects/:projectId/notifications': () => ({ ...digest, destination: 'https://192.0.2.1' }),
  'PATCH /notifications/:notificationId': () => digest,
  'POST /notifications/:notificationId/test': () => ({}),
  'POST /keys/:keyId/rotate': () => ({ graceHours: 0 }),
  'POST /keys/:keyId/disable': () => ({}),
  'POST /keys/:keyId/enable': () => ({}),
  'POST /keys/:keyId/revoke': () => ({}),
  'PATCH /members/:email': () => ({ role: 'viewer' }),
  'POST /members/:email/end-sessions': () => ({}),
  'POST /api/sessions/:sessionId/end': () => ({ password: PASSWORD }),
  'PATCH /api/account/passkeys/:passkeyId': () => ({ name: 'Mine' }),
  'POST /api/account/passkeys/:passkeyId/remove': () => ({ password: PASSWORD, code: takeBackupCode() }),
};

const ORGANIZATION = '/api/organizations/:organizationId';
/**
 * The token of a share link is not an id but the permission: `test/program/dashboard/share-links.test.ts`. Who joins and leaves is in
 * `test/program/dashboard/single-sign-on.test.ts`.
 */
const targeted = DASHBOARD_ROUTES.filter(
  ({ path, who }) =>
    who !== 'anybody' &&
    path.replace(ORGANIZATION, '').includes(':') &&
    !/^\/api\/account\/(invitations|organizations)\//.test(path),
);

function requestFor({ method, path }: DashboardRoute, id: string, organization: string) {
  const short = path.replace(ORGANIZATION, '');
  const body = BODIES[`${method} ${short}`]?.(id);
  if (body === undefined && (method === 'POST' || method === 'PATCH'))
    throw new Error(`${method} ${short} has no row in BODIES`);
  const filled = path.replace(':organizationId', organization).replace(/:\w+/, encodeURIComponent(id));
  // The one that reads must say since when.
  const query = short.endsWith('/changes') ? '?since=2024-01-01' : '';
  return { method, path: `${filled}${query}`, ...(body && { body }) };
}

/** Everything of the owner and of the owner's organization. */
async function stateOf({ store, clock }: Service): Promise<unknown> {
  const tables = [
    'user_session',
    'user_credential',
    'user_verification',
    'user_second_factor',
    'user_passkey',
    'user_account',
  ];
  const users = tables.map(
    async (table) => (await runOnUsers(store, `SELECT * FROM {${table}} ORDER BY id`)).rows,
  );
  const [keys, ...rest] = await Promise.all([
    store.directory.listKeys('default'),
    store.directory.listProjects('default'),
    store.directory.listShareLinks('default', 'docs'),
    store.directory.listMembers('default'),
    store.directory.listInvitations('default', clock.nowMs),
    store.directory.readAudit('default', { limit: 1000 }),
    store.maintenance.verify(),
    store.notifications.listDestinations(),
    ...users,
  ]);
  return [keys.map((key) => ({ ...key, lastUsedAt: null })), ...rest];
}

describe('a member of another organization', () => {
  test.each(targeted.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'reaches nothing with %s',
    async (_name, route) => {
      const parameter =
        /:(\w+)$/.exec(route.path.replace(ORGANIZATION, '').replace(/(:\w+).*/, '$1'))?.[1] ?? '';
      const create = CREATE[parameter];
      if (create === undefined) throw new Error(`the parameter ${parameter} has no row in CREATE`);
      const id = await create(service());
      expect(id).not.toBe('');
      const before = await stateOf(service());
      for (const organization of ['rival', 'default']) {
        const { status, cookies } = await attacker.send(requestFor(route, id, organization));
        expect([organization, status, cookies]).toEqual([organization, 404, []]);
      }
      expect(await stateOf(service())).toEqual(before);
      // The same request is right for whom it belongs to.
      const { status } = await owner.send(requestFor(route, id, 'default'));
      expect(status).toBeLessThan(300);
    },
  );

  test('makes no key for a project of others', async () => {
    const body = { name: 'k', type: 'recording', projectId: 'docs', expires: 'never' };
    const before = await stateOf(service());
    const { status } = await attacker.send({ path: '/api/organizations/rival/keys', body });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await stateOf(service())).toEqual(before);
    expect((await service().store.directory.listKeys('rival')).map(({ id }) => id)).toEqual(['rivalAdmin']);
  });

  test('learns nothing of what a deleted project refused from one with its id', async () => {
    const { addKey, send, store } = service();
    await store.directory.createProject(projectOf('moved'), by);
    const key = await addKey('a name of others', { type: 'recording', projectId: 'moved' });
    const ingestion = async (reader: string) =>
      (await send({ path: '/v1/analytics/moved/assistant/ingestion', key: reader })).text;
    const refuse = async () =>
      send({
        method: 'POST',
        path: '/v1/analytics/docs/assistant/queries',
        headers: json,
        body: query,
        key,
      });
    expect((await refuse()).status).toBe(404);
    expect(await ingestion(service().keys.admin)).toContain('a name of others');
    expect((await refuse()).status).toBe(404);
    await store.directory.deleteProject('default', 'moved', by);
    await store.directory.createProject(projectOf('moved', { organizationId: 'rival' }), by);
    const seen = JSON.parse(await ingestion(service().keys.rivalAdmin)) as { sources: unknown[] };
    expect(seen.sources).toEqual([]);
  });
});

interface KeyedRoute {
  readonly request: Omit<TestRequest, 'key'>;
  /** Whether a recording key of the project may send it. */
  readonly records?: boolean;
  /** Whether a reading key of the project may not send it, although it is a GET. */
  readonly isForAdmins?: boolean;
}

const json = { 'content-type': 'application/json' };
const query = JSON.stringify({ id: 'q', caller: 'web' });
const count = {
  source: 'old',
  caller: 'web',
  start: '2024-01-01T00:00:00Z',
  end: '2024-01-02T00:00:00Z',
  count: 1,
};
// Its id is what stands in the path of the operation that reads it.
const correction = { id: ':correctionId', action: 'withdraw', reason: 'a test', ids: ['q'] };
const ofDocs = { ...json, 'caller-stats-project': 'docs' };

/** A valid request for each operation that takes a key. */
const KEYED: Readonly<Record<string, KeyedRoute>> = {
  'GET /v1/analytics/:projectId/assistant/caller-stats': { request: {} },
  'GET /v1/analytics/:projectId/assistant/caller-stats/series': {
    request: { path: '?interval=day&dateFrom=2024-01-01&dateTo=2024-01-03' },
  },
  'GET /v1/analytics/:projectId/assistant/callers': { request: {} },
  'GET /v1/analytics/:projectId/assistant/changes': { request: { path: '?since=2024-01-01' } },
  'GET /v1/analytics/:projectId/assistant/ingestion': { request: {} },
  'GET /v1/analytics/:projectId/assistant/imported-counts/cuts': { request: {} },
  'GET /v1/analytics/:projectId/assistant/queries': { request: {}, isForAdmins: true },
  'POST /v1/analytics/:projectId/assistant/queries': {
    request: { headers: json, body: query },
    records: true,
  },
  'POST /v1/analytics/:projectId/assistant/imported-counts': {
    request: { headers: json, body: JSON.stringify([count]) },
  },
  'POST /v1/analytics/:projectId/assistant/corrections': {
    request: { headers: json, body: JSON.stringify(correction) },
  },
  'GET /v1/analytics/:projectId/assistant/corrections': { request: {} },
  'GET /v1/analytics/:projectId/assistant/corrections/:correctionId': { request: {} },
  'POST /v1/traces': { request: { headers: ofDocs, body: '{"resourceSpans":[]}' } },
  'POST /v1/logs': { request: { headers: ofDocs, body: '{"resourceLogs":[]}' } },
  'POST /v1/metrics': { request: { headers: ofDocs, body: '{"resourceMetrics":[]}' } },
};

describe('a key of another organization or project', () => {
  /** Keys that read one project. */
  const readers = { docs: '', blog: '' };

  beforeAll(async () => {
    for (const projectId of ['docs', 'blog'] as const)
      readers[projectId] = await service().addKey(`reader-${projectId}`, { type: 'reading', projectId });
  });

  test('has a row for every operation', async () => {
    const { routes, send } = service();
    const found: string[] = [];
    for (const path of [...routes().keys()].filter((one) => one.startsWith('/v1'))) {
      const asked = { method: 'PURGE', path: path.replace(':projectId', 'docs'), headers: ofDocs };
      const { headers } = await send(asked);
      const allowed = (headers['allow'] ?? '')
        .split(', ')
        .filter((method) => method !== 'HEAD' && method !== '');
      found.push(...allowed.map((method) => `${method} ${path}`));
    }
    expect(found.toSorted()).toEqual(Object.keys(KEYED).toSorted());
  });

  test.each(Object.entries(KEYED))(
    'reaches nothing with %s',
    async (name, { request, records = false, isForAdmins = false }) => {
      const { keys, send } = service();
      const [method = '', path = ''] = name.split(' ');
      const sendWith = (key: string, project = 'docs') =>
        send({ method, ...request, path: path.replace(':projectId', project) + (request.path ?? ''), key });
      const before = await stateOf(service());
      for (const key of [keys.rivalAdmin, keys.recordingBlog, readers.blog]) {
        const { status, text } = await sendWith(key);
        expect([401, 403, 404]).toContain(status);
        if (path.includes(':projectId')) expect(text).toBe((await sendWith(key, 'no-such-project')).text);
      }
      expect(await stateOf(service())).toEqual(before);
      expect((await sendWith(keys.admin)).status).toBe(200);
      if (records) expect((await sendWith(keys.recording)).status).toBe(200);
      expect((await sendWith(readers.docs)).status === 200).toBe(method === 'GET' && !isForAdmins);
    },
  );
});
