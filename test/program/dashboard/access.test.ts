/** Who may use which operation of the dashboard's API. */
import { METHODS } from 'node:http';
import { beforeAll, describe, expect, test } from 'vitest';
import { ROLES, type Role } from '../../../src/domain/people/member.js';
import type {
  ProjectsResponse,
  StartResponse,
  SummariesResponse,
  ZonesResponse,
} from '../../../src/http/dashboard/responses.js';
import { Browser, signedIn } from '../../support/http/dashboard.js';
import {
  DASHBOARD_ROUTES,
  type DashboardRoute,
  exampleOf,
  REFUSED_BODY,
} from '../../support/http/dashboard-routes.js';
import { detailsOf, errorOf, STATS, sharedService } from '../../support/http/http.js';
import type { Answer } from '../../support/http/http-checks.js';
import { callsWithin } from '../../support/http/http-store.js';
import { rightsOf } from '../../support/users/people.js';

/** Configured so that its routes exist; nothing listens there. */
const singleSignOn = {
  issuer: 'http://localhost:9',
  clientId: 'c',
  clientSecret: 's',
  secondFactor: 'require',
} as const;

const service = sharedService({ users: { publicUrl: 'http://localhost', singleSignOn } });
const people: Partial<Record<Role | 'outsider', Browser>> = {};

beforeAll(async () => {
  for (const role of ROLES) people[role] = await signedIn(service(), `${role}@example.org`, role);
  people.outsider = await signedIn(service(), 'outsider@example.org', 'owner', { organization: 'rival' });
});

function person(who: Role | 'outsider'): Browser {
  const browser = people[who];
  if (browser === undefined) throw new Error(`nobody has the role ${who}`);
  return browser;
}

function use(browser: Browser, { method, path }: Pick<DashboardRoute, 'method' | 'path'>): Promise<Answer> {
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: REFUSED_BODY };
  return browser.send({ method, path, ...body });
}

/** Expects that access was granted: `GET` succeeds, and a change is rejected for its body or its unknown id. */
function expectAccess(method: string, path: string, answer: Answer): void {
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

test('the time zones have their current names, whatever those of Node', async () => {
  const { names } = await new Browser(service()).ask<ZonesResponse>({ path: '/api/zones' });
  expect(names).toEqual(expect.arrayContaining(['UTC', 'Europe/Kyiv', 'Asia/Kolkata', 'America/Vancouver']));
  const olderNames = ['Europe/Kiev', 'Asia/Calcutta', 'Canada/Pacific', 'Etc/UTC', 'EST5EDT', 'Factory', ''];
  expect(names.filter((name: string) => olderNames.includes(name))).toEqual([]);
  expect(names).toEqual([...new Set(names)].toSorted());
});

describe('the first response of a visit', () => {
  const start = (browser: Browser) => browser.ask<StartResponse>({ path: '/api/start' });

  test('has no projects for a visitor', async () => {
    const { session, projects } = await start(new Browser(service()));
    expect([session.user, projects]).toEqual([null, {}]);
  });

  test('has the session, and the projects of the user’s organizations as their lists have them', async () => {
    for (const [who, id] of [
      ['viewer', 'default'],
      ['outsider', 'rival'],
    ] as const) {
      const { session, projects } = await start(person(who));
      expect(session).toEqual(await person(who).ask({ path: '/api/session' }));
      expect(projects).toEqual({
        [id]: await person(who).ask({ path: `/api/organizations/${id}/projects` }),
      });
    }
  });
});

const restricted = DASHBOARD_ROUTES.filter(({ who }) => who !== 'anybody');
const organizationRoutes = DASHBOARD_ROUTES.filter(({ path }) => path.includes(':organizationId'));
const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path}`;
const tableOf = (routes: readonly DashboardRoute[]) => routes.map((one) => [nameOf(one), one] as const);

test('the table lists every operation of the API', async () => {
  const paths = [...service().routes().keys()].filter((path) => path.startsWith('/api'));
  const found: string[] = [];
  for (const path of paths) {
    const refused = await person('owner').send({ method: 'PUT', path: exampleOf(path) });
    expect(refused.status, path).toBe(405);
    const allowed = refused.headers['allow']?.split(', ') ?? [];
    // HEAD is allowed where GET is.
    expect(allowed.includes('HEAD')).toBe(allowed.includes('GET'));
    found.push(...allowed.filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`));
  }
  expect(found.toSorted()).toEqual(DASHBOARD_ROUTES.map(nameOf).toSorted());
});

describe('without a session', () => {
  test.each([...new Set(restricted.map(({ path }) => path))])(
    '%s returns 401 for every method',
    async (path) => {
      const stranger = new Browser(service());
      for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
        for (const organization of ['default', 'none']) {
          const answer = await stranger.send({ method, path: exampleOf(path, organization) });
          expect([answer.status, answer.headers['www-authenticate']], method).toEqual([401, 'Cookie']);
        }
      }
    },
  );

  test.each([
    ['an API key', { authorization: 'Bearer KEY' }],
    ['an unknown session', { cookie: 'caller-stats.session_token=abcdef.abcdef' }],
    ['an empty session cookie', { cookie: 'caller-stats.session_token=' }],
    ['a malformed cookie', { cookie: 'caller-stats.session_token' }],
  ])('every operation rejects %s', async (_what, headers: Record<string, string>) => {
    const { keys } = service();
    const sent = { ...headers };
    if (sent['authorization'] !== undefined) sent['authorization'] = `Bearer ${keys.admin}`;
    for (const { method, path } of restricted) {
      const answer = await new Browser(service()).send({ method, path: exampleOf(path), headers: sent });
      expect(answer.status, `${method} ${path}`).toBe(401);
    }
  });
});

test('only signed-in users learn the version', async () => {
  const ask = async (path: string) => JSON.parse((await service().send({ path, key: null })).text);
  expect(Object.keys(await ask('/api/session'))).not.toContain('version');
  expect(await person('viewer').ask({ path: '/api/session' })).toMatchObject({ version: '1.2.3' });
  const { version, ...info } = (await ask('/openapi.json')).info;
  // Of the API, not of the software.
  expect(version).toBe('1.0.0');
  expect(Object.keys(info).toSorted()).toEqual(['description', 'license', 'title']);
});

test('a session does not give access to /v1', async () => {
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

describe('a foreign organization returns the same 404 as an unknown one:', () => {
  test.each(tableOf(organizationRoutes))('%s', async (_name, { method, path }) => {
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

  test('a foreign project returns the same 404 as an unknown one', async () => {
    const paths = DASHBOARD_ROUTES.filter(
      ({ method, path }) => method === 'GET' && path.includes(':projectId'),
    );
    expect(paths).toHaveLength(12);
    for (const { path } of paths) {
      for (const project of ['rival-docs', 'none', 'x'.repeat(70), 'docs%20']) {
        const asked = exampleOf(path).replace('/docs/', `/${project}/`);
        const { status, text } = await person('owner').send({ path: asked });
        expect({ status, text }).toEqual({ status: 404, text: '{"error":"There is no such project."}' });
      }
    }
  });
});

describe('each role has exactly its permissions:', () => {
  test.each(tableOf(restricted))('%s', async (_name, { method, path, who }) => {
    const needed = who === 'user' ? 'reader' : who;
    for (const role of ROLES) {
      const answer = await use(person(role), { method, path: exampleOf(path) });
      const may = ROLES.indexOf(role) <= ROLES.indexOf(needed as Role);
      if (may) expectAccess(method, path, answer);
      else
        expect([answer.status, errorOf(answer)]).toEqual([
          403,
          `This needs the role ${needed}; you are ${role}. Ask an owner.`,
        ]);
    }
  });

  test('every role reads the same responses, except that owners see the second factors of members', async () => {
    for (const { path, who } of organizationRoutes.filter(({ method }) => method === 'GET')) {
      const texts = new Set<string>();
      // Of a reader, lists of projects are shorter.
      const readsAll = who === 'reader' && path.includes(':projectId');
      for (const role of ROLES.filter((one) => one !== 'reader' || readsAll)) {
        const { text } = await person(role).send({ path: exampleOf(path) });
        if (path.endsWith('/members')) {
          expect(/"secondFactor":(true|false)/.test(text), role).toBe(role === 'owner');
        }
        texts.add(
          text
            .replaceAll('"you":true', '"you":false')
            .replaceAll(/"secondFactor":(true|false)/g, '"secondFactor":null'),
        );
      }
      expect(texts.size, path).toBe(1);
    }
  });

  test('HEAD responds as GET without the body', async () => {
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

test('reading calls nothing that changes the store, but notes the use of a key', async () => {
  const { routes, send } = service();
  const others = [...routes().keys()].filter((path) => !path.startsWith('/api'));
  const calls: { method: string; parameters: readonly unknown[] }[] = [];
  await callsWithin.run(calls, async () => {
    for (const method of ['GET', 'HEAD']) {
      for (const { path } of DASHBOARD_ROUTES.filter((route) => route.method === 'GET'))
        for (const who of ['owner', 'reader'] as const)
          await person(who).send({ method, path: exampleOf(path) });
      for (const path of others) await send({ method, path: exampleOf(path) });
    }
  });
  const called = calls.map(({ method, parameters: [first] }) =>
    method === 'run' ? `run ${(first as { sql: string }).sql}` : method,
  );
  const reads = /^(?:find|list|read|count|is|check|sum$|touchKey$|run select )/i;
  expect([...new Set(called)].filter((name) => !reads.test(name))).toEqual([]);
  for (const known of ['listNotifications', 'listSources', 'countCallers']) expect(called).toContain(known);
  expect(called).toContainEqual(expect.stringMatching(/^run select /i));
});

describe('a reader', () => {
  const organization = '/api/organizations/default';

  test('learns of no other project, by any path', async () => {
    const reader = person('reader');
    const { session, projects } = await reader.ask<StartResponse>({ path: '/api/start' });
    expect(session.organizations).toMatchObject([{ role: 'reader', projects: ['docs'] }]);
    const listed = await reader.ask<ProjectsResponse>({ path: `${organization}/projects` });
    const { projects: all } = await person('viewer').ask<ProjectsResponse>({
      path: `${organization}/projects`,
    });
    expect(projects).toEqual({ default: listed });
    expect(listed.projects).toEqual(all.filter(({ id }) => id === 'docs'));
    expect(all.length).toBeGreaterThan(1);
    const summaries = await reader.ask<SummariesResponse>({ path: `${organization}/summaries` });
    expect(summaries).toMatchObject({ projects: [{ id: 'docs' }], projectsTotal: 1 });
    const paths = DASHBOARD_ROUTES.filter(({ path, who }) => who === 'reader' && path.includes(':projectId'));
    expect(paths).toHaveLength(10);
    for (const { path } of paths)
      for (const project of ['blog', 'none', 'rival-docs', 'DOCS', 'docs,blog', ''])
        for (const method of ['GET', 'HEAD']) {
          const asked = exampleOf(path).replace('/docs/', `/${encodeURIComponent(project)}/`);
          const { status, text } = await reader.send({ method, path: asked });
          expect([path, project, status]).toEqual([path, project, 404]);
          if (method === 'GET') expect(text).toBe('{"error":"There is no such project."}');
        }
  });

  test('is made and changed by owners, with projects that exist', async () => {
    const owner = person('owner');
    const path = `${organization}/members/second-reader@example.org`;
    await signedIn(service(), 'second-reader@example.org', 'reader');
    for (const [body, problem] of [
      [{ role: 'reader' }, 'projects: a reader needs at least one project'],
      [{ role: 'reader', projects: [] }, 'projects: a reader needs at least one project'],
      [{ role: 'reader', projects: 'docs' }, 'projects: is not a list of texts'],
      [{ role: 'reader', projects: ['a b'] }, 'projects: "a b" is not the id of a project'],
      [{ role: 'editor', projects: ['docs'] }, 'projects: only a reader has some; editors read all projects'],
    ] as const) {
      expect(detailsOf(await owner.send({ method: 'PATCH', path, body }))).toEqual([problem]);
      const invited = { path: `${organization}/invitations`, body: { email: 'new@example.org', ...body } };
      expect(detailsOf(await owner.send(invited))).toEqual([problem]);
    }
    for (const id of ['none', 'rival-docs']) {
      const answer = await owner.send({ method: 'PATCH', path, body: { role: 'reader', projects: [id] } });
      expect([answer.status, errorOf(answer)]).toEqual([404, `There is no project ${id}.`]);
    }
    await owner.ask({ method: 'PATCH', path, body: { role: 'reader', projects: ['blog', 'docs', 'blog'] } });
    const { members } = await owner.ask<{ members: object[] }>({ path: `${organization}/members` });
    expect(members).toContainEqual(
      expect.objectContaining({
        email: 'second-reader@example.org',
        role: 'reader',
        projects: ['blog', 'docs'],
      }),
    );
    const invited = { email: 'new@example.org', role: 'reader', projects: ['docs'] };
    expect(await owner.ask({ path: `${organization}/invitations`, body: invited }, 201)).toMatchObject({
      invitation: invited,
    });
  });
});

test('a changed role or a removed membership takes effect on the next request', async () => {
  const { store, clock } = service();
  const leaver = await signedIn(service(), 'leaver@example.org', 'owner');
  const by = { name: 'a test', address: null, at: clock.nowMs };
  const invitations = '/api/organizations/default/invitations';
  const attempt = () => leaver.send({ path: invitations, body: REFUSED_BODY });
  expect((await attempt()).status).toBe(400);
  await store.directory.changeMember('default', 'leaver@example.org', rightsOf('viewer'), by);
  expect((await attempt()).status).toBe(403);
  expect((await leaver.send({ path: invitations })).status).toBe(200);
  await store.directory.removeMember('default', 'leaver@example.org', by);
  expect((await leaver.send({ path: invitations })).status).toBe(404);
  expect(await leaver.ask({ path: '/api/session' })).toMatchObject({
    user: { email: 'leaver@example.org' },
    organizations: [],
  });
});
