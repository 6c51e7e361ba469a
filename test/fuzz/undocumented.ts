/** Requests for paths outside the OpenAPI document: the dashboard and its API, the docs, and paths that do not exist. */
import { DASHBOARD_ROUTES, exampleOf } from '../support/http/dashboard-routes.js';
import { words } from '../support/words.js';
import { writeJson } from './json-text.js';
import { type Parts, PLAIN_PARTS } from './parts.js';
import type { Random } from './random.js';

const PAGES = words(`
  / /docs /docs/ /docs/settings /docs/nothing /docs/assets/nothing.js /docs/try /docs/try/nothing.js
  /openapi.json /robots.txt /sign-in /projects/x /assets/
  /assets/nothing.js /favicon.ico /.env /v1 /v2 /metrics /wp-login.php
  /docs/assets/..%2f..%2fpackage.json /assets/..%5c..%5cpackage.json
  /docs/assets/%00 /assets/%zz /api /api/nothing /set-up
`);

/** What applications that people connect send. */
const APPLICATION_ROUTES = ['/oauth/token', '/oauth/register'].map((path) => ({ method: 'POST', path }));

const notText = { toString: 1 };

const FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  email: ['a@example.org', 'x', ''],
  password: ['correct horse battery', '', 1],
  token: ['x'.repeat(43), '', null],
  code: ['123456'],
  name: ['A name', 'x'.repeat(200)],
  role: ['owner', 'nobody'],
  grant_type: ['authorization_code', 'refresh_token', 'password', notText],
  client_id: ['x.y', notText],
  code_verifier: ['x'.repeat(43), notText],
  refresh_token: ['cs-application-x.y', notText],
  client_name: ['An application', notText],
  redirect_uris: [['https://chat.example/'], ['javascript:x'], [notText], notText],
};

/** A request to the dashboard's API, or for a page. */
export function undocumentedRequest(random: Random): Parts {
  const isApi = random.oneIn(2);
  const route = random.pick([...DASHBOARD_ROUTES, ...APPLICATION_ROUTES, ...APPLICATION_ROUTES]);
  const hasBody = isApi && route.method !== 'GET';
  const fields = Object.entries(FIELDS)
    .filter(() => random.oneIn(2))
    .map(([name, values]) => [name, random.pick(values)]);
  const headers: Parts['headers'] = [['Host', 'fuzz.test']];
  if (random.oneIn(2))
    headers.push(['Origin', random.pick(['http://fuzz.test', 'null', 'https://evil.test'])]);
  if (random.oneIn(2))
    headers.push([
      'Cookie',
      random.pick(['caller-stats.session=x.y', 'caller-stats.session_token=%ff', '=;;=']),
    ]);
  if (hasBody) headers.push(['Content-Type', 'application/json']);
  return {
    ...PLAIN_PARTS,
    method: isApi ? route.method : random.pick(['GET', 'GET', 'HEAD']),
    target: isApi ? exampleOf(route.path, random.pick(['default', 'x', '%00'])) : random.pick(PAGES),
    headers,
    body: hasBody ? Buffer.from(writeJson(Object.fromEntries(fields), random)) : undefined,
  };
}
