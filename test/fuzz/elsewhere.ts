/** Requests for what the OpenAPI document leaves out: the dashboard's API and pages, the docs, and what is not there at all. */
import { DASHBOARD_ROUTES, exampleOf } from '../support/dashboard-routes.js';
import { jsonOf } from './json-text.js';
import type { Parts } from './parts.js';
import type { Random } from './random.js';

const PAGES: readonly string[] = [
  '/',
  '/docs',
  '/docs/',
  '/docs/settings',
  '/docs/nothing',
  '/docs/assets/nothing.js',
  '/docs/try',
  '/docs/try/static/index.html',
  '/docs/try/static/nothing.js',
  '/docs/try/json',
  '/openapi.json',
  '/robots.txt',
  '/sign-in',
  '/projects/x',
  '/assets/',
  '/assets/nothing.js',
  '/favicon.ico',
  '/.env',
  '/v1',
  '/v2',
  '/metrics',
  '/wp-login.php',
  '/docs/try/static/..%2f..%2fpackage.json',
  '/docs/assets/..%2f..%2fpackage.json',
  '/docs/try/static/%2e%2e/package.json',
  '/assets/..%5c..%5cpackage.json',
  '/docs/assets/%00',
  '/assets/%zz',
  '/api',
  '/api/nothing',
  '/set-up',
];

const FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  email: ['a@example.org', 'x', ''],
  password: ['correct horse battery', '', 1],
  token: ['x'.repeat(43), '', null],
  code: ['123456'],
  name: ['A name', 'x'.repeat(200)],
  role: ['owner', 'nobody'],
};

export function elsewhere(random: Random): Parts {
  const isApi = random.oneIn(2);
  const route = random.pick(DASHBOARD_ROUTES);
  const body =
    isApi && route.method !== 'GET'
      ? Buffer.from(
          jsonOf(
            Object.fromEntries(
              Object.entries(FIELDS)
                .filter(() => random.oneIn(2))
                .map(([name, values]) => [name, random.pick(values)]),
            ),
            random,
          ),
        )
      : undefined;
  return {
    method: isApi ? route.method : random.pick(['GET', 'GET', 'HEAD']),
    target: isApi ? exampleOf(route.path, random.pick(['default', 'x', '%00'])) : random.pick(PAGES),
    version: '1.1',
    headers: [
      ['Host', 'fuzz.test'],
      ...(random.oneIn(2)
        ? ([['Origin', random.pick(['http://fuzz.test', 'null', 'https://evil.test'])]] as [string, string][])
        : []),
      ...(random.oneIn(2)
        ? ([
            ['Cookie', random.pick(['caller-stats.session=x.y', 'caller-stats.session_token=%ff', '=;;='])],
          ] as [string, string][])
        : []),
      ...(body === undefined ? [] : ([['Content-Type', 'application/json']] as [string, string][])),
    ],
    body,
    chunks: 0,
    mustSucceed: false,
    mustNotEnter: false,
    effect: { kind: 'none' },
    alone: false,
  };
}
