/** The whole service below a path: nothing outside of it, within it everything as ever, and every way back leads there. */
import { describe, expect, test } from 'vitest';
import { Browser, invite, PASSWORD } from '../support/dashboard.js';
import {
  directly,
  get,
  ordinary,
  ordinaryCounts,
  recordSome,
  startWithSome,
} from '../support/direct-export.js';
import { errorOf, STATS, sharedService, startService } from '../support/http.js';
import { startOidcProvider } from '../support/oidc-provider.js';
import { OidcUserAgent } from '../support/oidc-user-agent.js';
import { SCRIPT } from '../support/pages.js';
import { memberOf } from '../support/people.js';
import { by } from '../support/store.js';

const basePath = '/team/stats';
const below = sharedService({ basePath, ...directly });
const alone = sharedService(directly);

describe('nothing is found outside of it', () => {
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

  test('on the shorter way of exports either', async () => {
    const { sendRaw, keys } = below();
    const headers = ['Host: test', `Authorization: Bearer ${keys.admin}`];
    expect((await sendRaw(get(ordinary, headers))).status).toBe(404);
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
] as const)('%s %s is answered as ever', async (method, path) => {
  const asEver = await alone().send({ method, path });
  const answer = await below().send({ method, path: `${basePath}${path}` });
  const { date: _now, ...headers } = answer.headers;
  expect({ ...answer, headers }).toEqual({ ...asEver, headers: expect.objectContaining(headers) });
});

test('an ordinary export is answered without the framework there, too', async () => {
  const service = await startWithSome({ basePath });
  const headers = ['Host: test', `Authorization: Bearer ${service.keys.admin}`];
  const answer = await service.sendRaw(get(`${basePath}${ordinary}`, headers));
  expect(JSON.parse(answer.text)).toEqual(ordinaryCounts);
  expect(service.calls.filter(({ method }) => method !== 'touchKey')).toEqual([]);
});

test('what is recorded there counts', async () => {
  const service = await startService({ basePath });
  await recordSome(service);
  const recorded = await service.send({
    method: 'POST',
    path: `${basePath}${STATS.replace('caller-stats', 'queries')}`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'one more', caller: 'web' }),
  });
  expect(JSON.parse(recorded.text)).toEqual({ recorded: 1, duplicates: 0 });
  const { text } = await service.send({ path: `${basePath}${STATS}` });
  expect(JSON.parse(text)).toEqual({ web: 11, api: 10, other: 10, total: 31 });
});

test('the OpenAPI document, its pages and those of the dashboard lead nowhere else', async () => {
  const { send } = below();
  const read = async (path: string): Promise<string> => (await send({ path, key: null })).text;
  expect(JSON.parse(await read(`${basePath}/openapi.json`)).servers[0].url).toBe(basePath);
  for (const path of ['', '/', '?to=/', '/projects/docs/keys', '/docs/', '/docs/settings', '/docs/try']) {
    const page = await read(`${basePath}${path}`);
    const links = [...page.matchAll(/(?:src|href)="([^"#]*)"/g)].map(([, link = '']) => link);
    expect(links.length, path).toBeGreaterThan(0);
    expect(links.filter((link) => !link.startsWith(`${basePath}/`))).toEqual([]);
    if (!path.startsWith('/docs')) expect(page).toContain(`<meta name="base-path" content="${basePath}"`);
  }
});

test('cookies are for it alone, when they are set and when they are taken back', async () => {
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

test('single sign-on goes there and back', async () => {
  const publicUrl = 'http://127.0.0.1:4321';
  const users = [{ id: 'u1', email: 'ada@example.org', emailVerified: true, name: 'Ada' }];
  const redirectPath = `${basePath}/api/sign-in/oidc/callback/sso`;
  const { issuer, clientId, clientSecret } = await startOidcProvider({ users, redirectPath });
  const singleSignOn = { name: 'SSO', issuer, clientId, clientSecret };
  const service = await startService({ basePath, users: { publicUrl, singleSignOn } });
  await service.store.addMember(memberOf('ada@example.org'), by);
  const browser = new Browser(service);
  const redirectOf = async (path: string) => (await browser.send({ path })).headers['location'] ?? '';
  const there = async (email: string | null) => {
    const url = await redirectOf(`${basePath}/api/sign-in/oidc?to=/members`);
    const { pathname, search } = await new OidcUserAgent().signIn(url, email);
    return redirectOf(`${pathname}${search}`);
  };
  expect((await there(null)).replace(publicUrl, '')).toBe(`${basePath}/sign-in?problem=failed`);
  expect((await there('ada@example.org')).replace(publicUrl, '')).toBe(`${basePath}/members`);
  const session = await browser.ask({ path: `${basePath}/api/session` });
  expect(session['user']).toMatchObject({ email: 'ada@example.org' });
});
