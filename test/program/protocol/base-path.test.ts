/** A service below a base path: no routes outside, the same responses inside, and links and redirects that stay inside. */
import { describe, expect, test } from 'vitest';
import { Browser, invite, PASSWORD } from '../../support/http/dashboard.js';
import { get, ordinary, ordinaryCounts, startWithSome } from '../../support/http/export.js';
import { errorOf, QUERIES, STATS, sharedService, startService } from '../../support/http/http.js';
import { SCRIPT } from '../../support/http/pages.js';
import { by } from '../../support/storage/store.js';
import { startOidcProvider } from '../../support/users/oidc-provider.js';
import { OidcUserAgent } from '../../support/users/oidc-user-agent.js';
import { memberOf } from '../../support/users/people.js';

const basePath = '/team/stats';
const below = sharedService({ basePath });
const atRoot = sharedService();

describe('a path outside the base path returns 404:', () => {
  test.each([
    '/',
    '/livez',
    '/docs',
    '/api/session',
    '/team',
    '/team/',
    '/team/statsother/livez',
    '/team/stats%2Flivez',
    '/TEAM/STATS/livez',
    '//team/stats/livez',
    '/team/stats/team/stats/livez',
    '/team/stats/../livez',
    STATS,
    ordinary,
  ])('%s', async (path) => {
    const answer = await below().send({ path });
    expect([answer.status, errorOf(answer)]).toEqual([
      404,
      'There is no such route; /team/stats/docs shows those that are.',
    ]);
  });
});

test.each([
  ['GET', '/livez'],
  ['GET', '/readyz'],
  ['GET', ordinary],
  ['HEAD', STATS],
  ['GET', `${STATS}?datefrom=2026-01-01`],
  ['GET', `${STATS}/series?interval=day&dateFrom=1970-01-01&dateTo=1970-01-03`],
  ['GET', STATS.replace('docs', 'nothing')],
  ['DELETE', STATS],
  ['GET', '/%zz'],
  ['GET', '/assets/no.js'],
  ['GET', SCRIPT.path],
  ['GET', '/theme.js'],
  ['GET', '/api/session'],
] as const)('%s %s has the same response as without a base path', async (method, path) => {
  const usual = await atRoot().send({ method, path });
  const answer = await below().send({ method, path: `${basePath}${path}` });
  const { date: _now, ...headers } = answer.headers;
  expect({ ...answer, headers }).toEqual({ ...usual, headers: expect.objectContaining(headers) });
});

test('an export below the base path counts what is recorded there', async () => {
  const service = await startWithSome({ basePath });
  const answer = await service.send({
    method: 'POST',
    path: `${basePath}${QUERIES}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'one more', caller: 'web', occurredAt: '1970-01-01T00:00:00Z' }),
  });
  expect(JSON.parse(answer.text)).toEqual({ recorded: 1, duplicates: 0 });
  const headers = ['Host: test', `Authorization: Bearer ${service.keys.admin}`];
  const { text } = await service.sendRaw(get(`${basePath}${ordinary}`, headers));
  const { web, total } = ordinaryCounts;
  expect(JSON.parse(text)).toEqual({ ...ordinaryCounts, web: web + 1, total: total + 1 });
});

test('the OpenAPI document and all pages link only below the base path', async () => {
  const { send } = below();
  const read = async (path: string): Promise<string> => (await send({ path, key: null })).text;
  expect(JSON.parse(await read(`${basePath}/openapi.json`)).servers[0].url).toBe(basePath);
  for (const path of ['', '/', '?to=/', '/projects/docs/keys', '/docs/', '/docs/settings', '/docs/try']) {
    const page = await read(`${basePath}${path}`);
    const links = [...page.matchAll(/(?:src|href)="([^"#]*)"/g)].map(([, link = '']) => link);
    expect(links.length, path).toBeGreaterThan(0);
    expect(links.filter((link) => !link.startsWith(`${basePath}/`))).toEqual([]);
    if (!/^\/docs\/(?!try)/.test(path))
      expect(page).toContain(`<meta name="base-path" content="${basePath}"`);
  }
});

test('cookies are set and deleted with the base path', async () => {
  const service = await startService({ basePath });
  const token = await invite(service, 'ada@example.org', 'owner');
  const browser = new Browser(service);
  const ask = (path: string, body: object) => browser.send({ path: `${basePath}${path}`, body });
  const answers = [
    await ask('/api/invitations/accept', { token, name: 'Ada', password: PASSWORD }),
    await ask('/api/sign-in', { email: 'ada@example.org', password: PASSWORD }),
    await ask('/api/sign-out', {}),
  ];
  expect(answers.map(({ status }) => status)).toEqual([204, 200, 204]);
  const paths = answers.flatMap(({ cookies }) => cookies).map((set) => /; Path=([^;]*)/.exec(set)?.[1]);
  expect([...new Set(paths)].sort()).toEqual([basePath, `${basePath}/api`]);
});

test('single sign-on redirects below the base path', async () => {
  const publicUrl = 'http://127.0.0.1:4321';
  const users = [{ id: 'u1', email: 'ada@example.org', emailVerified: true, name: 'Ada' }];
  const redirectPath = `${basePath}/api/sign-in/oidc/callback/sso`;
  const { issuer, clientId, clientSecret } = await startOidcProvider({ users, redirectPath });
  const singleSignOn = { issuer, clientId, clientSecret, secondFactor: 'require' } as const;
  const service = await startService({ basePath, users: { publicUrl, singleSignOn } });
  await service.store.directory.addMember(memberOf('ada@example.org'), by);
  const browser = new Browser(service);
  const findRedirect = async (path: string) => (await browser.send({ path })).headers['location'] ?? '';
  const signIn = async (email: string | null) => {
    const url = await findRedirect(`${basePath}/api/sign-in/oidc?to=/members`);
    const { pathname, search } = await new OidcUserAgent().signIn(url, email);
    return findRedirect(`${pathname}${search}`);
  };
  expect((await signIn(null)).replace(publicUrl, '')).toBe(`${basePath}/sign-in?problem=failed`);
  expect((await signIn('ada@example.org')).replace(publicUrl, '')).toBe(`${basePath}/members`);
  const session = await browser.ask({ path: `${basePath}/api/session` });
  expect(session['user']).toMatchObject({ email: 'ada@example.org' });
});
