/** Who may use which operation of the dashboard's API: every one of them, refusals first. */
import { METHODS } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROLES, type Role } from '../../src/domain/people/member.js';
import { Browser, signedIn } from '../support/dashboard.js';
import {
  DASHBOARD_ROUTES,
  type DashboardRoute,
  exampleOf,
  REFUSED_BODY,
} from '../support/dashboard-routes.js';
import { detailsOf, errorOf, STATS, sharedService } from '../support/http.js';
import type { Answer } from '../support/http-checks.js';

/** There, so that its routes are; nobody ever goes to it. */
const singleSignOn = { name: 'SSO', issuer: 'http://localhost:9', clientId: 'c', clientSecret: 's' };

const service = sharedService({ users: { publicUrl: 'http://localhost', singleSignOn } });
const people: Partial<Record<Role | 'outsider', Browser>> = {};

beforeAll(async () => {
  for (const role of ROLES) people[role] = await signedIn(service(), `${role}@example.org`, role);
  people.outsider = await signedIn(service(), 'outsider@example.org', 'owner', { organization: 'rival' });
});

function person(who: Role | 'outsider'): Browser {
  const browser = people[who];
  if (browser === undefined) throw new Error(`there is no ${who}`);
  return browser;
}

function use(browser: Browser, { method, path }: Pick<DashboardRoute, 'method' | 'path'>): Promise<Answer> {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: REFUSED_BODY };
  return browser.send({ method, path, ...body });
}

/** It came as far as what was asked, which was refused for what it is. */
function expectTaken(method: string, path: string, answer: Answer): void {
  if (method === 'GET') {
    expect(answer.status).toBe(200);
  } else if (path.endsWith('/:projectId') && method === 'DELETE') {
    expect(detailsOf(answer)).toEqual(['name: is missing, or not a text']);
  } else if (method === 'DELETE') {
    expect([answer.status, errorOf(answer)]).toEqual([404, expect.not.stringMatching(/organization/)]);
  } else {
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toContainEqual(
      expect.stringMatching(/^"no such field": is not a field here; /),
    );
  }
}

const closed = DASHBOARD_ROUTES.filter(({ who }) => who !== 'anybody');
const ofOrganizations = DASHBOARD_ROUTES.filter(({ path }) => path.includes(':organizationId'));
const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path}`;
const tableOf = (routes: readonly DashboardRoute[]) => routes.map((one) => [nameOf(one), one] as const);

test('every operation is in the table, with no other method on its path', async () => {
  const paths = [...service().routes().keys()].filter((path) => path.startsWith('/api'));
  const found: string[] = [];
  for (const path of paths) {
    const refused = await person('owner').send({ method: 'PUT', path: exampleOf(path) });
    expect(refused.status, path).toBe(405);
    const allowed = refused.headers['allow']?.split(', ') ?? [];
    // Where something can be read, its head can.
    expect(allowed.includes('HEAD')).toBe(allowed.includes('GET'));
    found.push(...allowed.filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`));
  }
  expect(found.toSorted()).toEqual(DASHBOARD_ROUTES.map(nameOf).toSorted());
});

describe('signed out, whatever the method', () => {
  test.each([...new Set(closed.map(({ path }) => path))])('%s is 401', async (path) => {
    const stranger = new Browser(service());
    for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
      for (const organization of ['default', 'none']) {
        const answer = await stranger.send({ method, path: exampleOf(path, organization) });
        expect([answer.status, answer.headers['www-authenticate']], method).toEqual([401, 'Cookie']);
      }
    }
  });

  test.each([
    ['of a key', { authorization: 'Bearer KEY' }],
    ['of no session', { cookie: 'caller-stats.session_token=abcdef.abcdef' }],
    ['of an empty session', { cookie: 'caller-stats.session_token=' }],
    ['malformed', { cookie: 'caller-stats.session_token' }],
  ])('credentials %s open nothing', async (_what, headers: Record<string, string>) => {
    const { keys } = service();
    const sent = { ...headers };
    if (sent['authorization'] !== undefined) sent['authorization'] = `Bearer ${keys.admin}`;
    for (const { method, path } of closed) {
      const answer = await new Browser(service()).send({ method, path: exampleOf(path), headers: sent });
      expect(answer.status, `${method} ${path}`).toBe(401);
    }
  });
});

test('a session opens nothing under /v1', async () => {
  const { routes, send } = service();
  const cookie = [...person('owner').cookies].map((pair) => pair.join('=')).join('; ');
  const paths = [...routes().keys()].filter((path) => path.startsWith('/v1/analytics'));
  expect(paths.length).toBeGreaterThanOrEqual(4);
  for (const path of paths) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      const headers = { cookie, origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' };
      const answer = await send({ method, path: exampleOf(path), key: null, headers, from: '192.0.2.1' });
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    }
  }
  expect((await send({ path: STATS, headers: { cookie } })).status).toBe(200);
});

describe("another organization's is not to be told from one that is not there:", () => {
  test.each(tableOf(ofOrganizations))('%s', async (_name, { method, path }) => {
    for (const who of ['outsider', 'viewer', 'owner'] as const) {
      const organizations = who === 'outsider' ? ['default', 'none', 'Default'] : ['rival', 'none', 'RIVAL'];
      const answers: Answer[] = [];
      for (const organization of organizations)
        answers.push(await use(person(who), { method, path: exampleOf(path, organization) }));
      for (const { status, text } of answers) {
        expect({ status, text }).toEqual({
          status: 404,
          text: JSON.stringify({ error: 'There is no such organization.' }),
        });
      }
    }
  });

  test("and so are another organization's projects", async () => {
    const paths = DASHBOARD_ROUTES.filter(
      ({ method, path }) => method === 'GET' && path.includes(':projectId'),
    );
    expect(paths).toHaveLength(3);
    for (const { path } of paths) {
      for (const project of ['rival-docs', 'none', 'x'.repeat(70), 'docs%20']) {
        const asked = exampleOf(path).replace('/docs/', `/${project}/`);
        const { status, text } = await person('owner').send({ path: asked });
        expect({ status, text }).toEqual({ status: 404, text: '{"error":"There is no such project."}' });
      }
    }
  });
});

describe('each role may do what is its own, and no more:', () => {
  test.each(tableOf(closed))('%s', async (_name, { method, path, who }) => {
    const needed = who === 'user' ? 'viewer' : who;
    for (const role of ROLES) {
      const answer = await use(person(role), { method, path: exampleOf(path) });
      const may = ROLES.indexOf(role) <= ROLES.indexOf(needed as Role);
      if (may) expectTaken(method, path, answer);
      else
        expect([answer.status, errorOf(answer)]).toEqual([
          403,
          `This needs the role ${needed}; you are ${role}. Ask an owner.`,
        ]);
    }
  });

  test('what each reads is the same', async () => {
    for (const { path } of ofOrganizations.filter(({ method }) => method === 'GET')) {
      const texts: string[] = [];
      for (const role of ROLES) {
        const { text } = await person(role).send({ path: exampleOf(path) });
        texts.push(text.replaceAll('"you":true', '"you":false'));
      }
      expect(new Set(texts).size, path).toBe(1);
    }
  });

  test('and HEAD is GET without its body', async () => {
    for (const { path } of DASHBOARD_ROUTES.filter(({ method }) => method === 'GET')) {
      if (path.includes('oidc')) continue;
      const asked = { path: exampleOf(path) };
      const { status, headers, text } = await person('viewer').send(asked);
      const head = await person('viewer').send({ ...asked, method: 'HEAD' });
      expect([head.status, head.headers['content-type'], head.text]).toEqual([
        status,
        headers['content-type'],
        '',
      ]);
      expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(text));
    }
  });
});

test('a role that is taken away is gone with the next request, and so is a membership', async () => {
  const { store, clock } = service();
  const leaver = await signedIn(service(), 'leaver@example.org', 'owner');
  const by = { name: 'a test', address: null, at: clock.nowMs };
  const invitations = '/api/organizations/default/invitations';
  const attempt = () => leaver.send({ path: invitations, body: REFUSED_BODY });
  expect((await attempt()).status).toBe(400);
  await store.changeMember('default', 'leaver@example.org', 'viewer', by);
  expect((await attempt()).status).toBe(403);
  expect((await leaver.send({ path: invitations })).status).toBe(200);
  await store.removeMember('default', 'leaver@example.org', by);
  expect((await leaver.send({ path: invitations })).status).toBe(404);
  expect(await leaver.ask({ path: '/api/session' })).toMatchObject({
    user: { email: 'leaver@example.org' },
    organizations: [],
  });
});
