/** Invalid requests to the dashboard's API, and their error messages. */
import { beforeAll, expect, test } from 'vitest';
import { dashboardBodyBytesMax } from '../../../src/domain/limits.js';
import { type Browser, OWN_ORIGIN, signedIn } from '../../support/http/dashboard.js';
import { DASHBOARD_ROUTES, exampleOf } from '../../support/http/dashboard-routes.js';
import { detailsOf, sharedService } from '../../support/http/http.js';

const service = sharedService();
let owner: Browser;

beforeAll(async () => {
  owner = await signedIn(service(), 'ada@example.org', 'owner');
});

const withBodies = DASHBOARD_ROUTES.filter(({ method }) => method === 'POST' || method === 'PATCH').map(
  ({ method, path }) => [`${method} ${path}`, { method, path: exampleOf(path) }] as const,
);

test.each(withBodies)('%s accepts only a small JSON object', async (_name, asked) => {
  const refused = async (body: string, headers: Record<string, string> = {}) => {
    const { status, text } = await owner.send({ ...asked, body, headers });
    return [status, (JSON.parse(text) as { error: string }).error];
  };
  expect(await refused('{"name": ')).toEqual([400, expect.stringMatching(/^The body .*JSON/)]);
  expect(await refused('\xff')).toEqual([400, expect.stringMatching(/^The body /)]);
  for (const body of ['[]', 'null', '1', '"text"'])
    expect(await refused(body)).toEqual([400, expect.stringMatching(/\b(the|The) body is not a /)]);
  const large = JSON.stringify({ name: 'x'.repeat(dashboardBodyBytesMax) });
  expect(await refused(large)).toEqual([413, expect.stringMatching(/too large/)]);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x'])
    expect(await refused('name=x', { 'content-type': type })).toEqual([
      415,
      expect.stringMatching(/Content-Type/),
    ]);
  expect(await refused('{}', { 'content-encoding': 'gzip' })).toEqual([
    415,
    'The Content-Encoding is not supported; send none.',
  ]);
});

test.each([
  ['/api/sign-in', ['email', 'password']],
  ['/api/sign-in/second-factor', ['code']],
  ['/api/set-up', ['token', 'name', 'email', 'password']],
  ['/api/invitations/look-up', ['token']],
  ['/api/invitations/accept', ['token']],
  ['/api/password-reset', ['token', 'password']],
  ['/api/password-reset/mail', ['email']],
  ['/api/account/password', ['password', 'newPassword']],
  ['/api/account/second-factor/start', ['password']],
  ['/api/account/second-factor/confirm', ['code']],
  ['/api/organizations/default/invitations', ['email', 'role']],
  ['/api/organizations/default/projects', ['name']],
])('%s names every missing field and every field of the wrong type', async (path, fields) => {
  const wrong = Object.fromEntries(fields.map((field) => [field, 1]));
  const empty = Object.fromEntries(fields.map((field) => [field, '']));
  const nul = Object.fromEntries(fields.map((field) => [field, 'a long enough\0 text']));
  for (const body of [{}, wrong, empty, nul]) {
    const answer = await owner.send({ path, body });
    expect(answer.status).toBe(400);
    expect(detailsOf(answer).map((message) => message.split(':')[0])).toEqual(fields);
  }
});

test.each([
  ['passwort', 'did you mean password?'],
  ['Email', 'did you mean email?'],
  ['e-mail', 'did you mean email?'],
  ['__proto__', 'there are email, password'],
  ['constructor', 'there are email, password'],
])('the unknown field %s is rejected', async (name, hint) => {
  const body = `{"email":"a@example.org","password":"x","${name}":"x"}`;
  const answer = await owner.send({ path: '/api/sign-in', body });
  expect([answer.status, detailsOf(answer)]).toEqual([400, [`"${name}": is not a field here; ${hint}`]]);
});

test('a path with a NUL character returns 404', async () => {
  for (const path of [
    '/api/sessions/%00',
    '/api/organizations/%00/projects',
    '/api/organizations/default/members/a%00b',
  ])
    expect((await owner.send({ path, method: 'DELETE', headers: OWN_ORIGIN })).status).toBe(404);
});

test.each(['/api', '/api/', '/api/nowhere', '/api/session/', '/API/session', '/api/organizations'])(
  '%s returns 404',
  async (path) => {
    for (const method of ['GET', 'POST']) expect((await owner.send({ path, method })).status).toBe(404);
  },
);
