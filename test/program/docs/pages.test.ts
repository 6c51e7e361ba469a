/** The pages and files of the dashboard and the docs. */
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { errorOf, sharedService, startService } from '../../support/http/http.js';
import {
  DOCS_LIST,
  DOCS_MISSING_PAGE,
  DOCS_PAGE,
  DOCS_SCRIPT,
  PAGE,
  SCRIPT,
} from '../../support/http/pages.js';

const service = sharedService();

describe('an unknown file returns 404:', () => {
  test.each([
    '/assets/..%2f..%2fpackage.json',
    '/assets/../index.html',
    '/assets/%2e%2e/index.html',
    '/assets/..%5c..%5cpackage.json',
    '/assets/',
    '/assets',
    '/assets/index-1a2b3c.js/',
    '/assets/index-1a2b3c.js.br',
    '/assets/index-1a2b3c.js.gz',
    '/assets/INDEX-1a2b3c.js',
    '/assets//index-1a2b3c.js',
    '/index.html',
    '/index.html.br',
    '/theme.js.br',
    '/sign-in/',
    '/sign-in/more',
    '/project',
    '/../package.json',
    '//etc/passwd',
    '/.env',
  ])('%s', async (path) => {
    const { send } = service();
    for (const headers of [{}, { 'accept-encoding': 'br, gzip' }]) {
      const { status, headers: answered } = await send({ path, key: null, headers });
      expect([status, answered['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
    }
  });
});

/** What Chromium and Firefox send for the address of a window. */
const WINDOW = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('at an unknown address', () => {
  test.each([
    ['/nothing', PAGE],
    ['/project', PAGE],
    ['/sign-in/more?x=1', PAGE],
    ['/projects/docs/nothing', PAGE],
    ['/projects/docs/keys/more', PAGE],
    ['/v1/analytics/demo', PAGE],
    ['/docsy', PAGE],
    ['/docs/nothing', DOCS_MISSING_PAGE],
    ['/docs/404', DOCS_MISSING_PAGE],
    ['/docs/settings/more', DOCS_MISSING_PAGE],
  ])('a window gets 404 with a page: %s', async (path, page) => {
    const { send } = service();
    const headers = { accept: WINDOW };
    const { status, headers: answered, text } = await send({ path, key: null, headers });
    expect([status, text]).toEqual([404, page]);
    expect(answered).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; /),
      'cross-origin-opener-policy': 'same-origin',
    });
    const head = await send({ path, key: null, method: 'HEAD', headers });
    expect([head.status, head.text]).toEqual([404, '']);
    for (const [name, value] of [
      ['if-none-match', '*'],
      ['range', 'bytes=0-1'],
    ] as const) {
      const whole = await send({ path, key: null, headers: { ...headers, [name]: value } });
      expect([whole.status, whole.text]).toEqual([404, page]);
    }
  });

  test.each([
    ['a script', 'GET', '*/*'],
    ['a program', 'GET', 'application/json'],
    ['either', 'GET', 'application/json, text/html'],
    ['a form', 'POST', WINDOW],
    ['a weight above 1', 'GET', 'application/json, */*;q=1e400'],
  ])('%s gets 404 in JSON', async (_who, method, accept) => {
    const { send } = service();
    for (const path of ['/nothing', '/docs/settings/more']) {
      const { status, headers } = await send({ path, key: null, method, headers: { accept } });
      expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
    }
  });

  test('a file, an answer of the API and a wrong method stay as they are', async () => {
    const { send } = service();
    const headers = { accept: WINDOW };
    const noKey = [
      { path: '/assets/nothing.js', status: 404 },
      { path: '/docs/assets/nothing.js', status: 404 },
      { path: '/v1/analytics/docs/assistant/caller-stats', status: 401 },
      { path: '/sign-in', method: 'DELETE', status: 405 },
    ].map((one) => ({ ...one, key: null }));
    for (const { status, ...request } of [
      ...noKey,
      { path: '/v1/analytics/none/assistant/caller-stats', status: 404 },
    ]) {
      const answer = await send({ ...request, headers });
      expect([answer.status, answer.headers['content-type']]).toEqual([
        status,
        'application/json; charset=utf-8',
      ]);
    }
  });
});

test.each([
  '/',
  '/sign-in',
  '/set-up',
  '/join',
  '/reset',
  '/new-project',
  '/projects',
  '/projects/docs',
  '/projects/docs/keys',
  '/projects/docs/sources',
  '/projects/docs/corrections',
  '/projects/docs/settings',
  '/members',
  '/audit',
  '/account',
  '/?x=1',
])('%s returns the page with its security policy and is revalidated', async (path) => {
  const { send } = service();
  const { status, headers, text } = await send({ path, key: null });
  expect([status, text]).toEqual([200, PAGE]);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
      "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': expect.stringMatching(/^camera=\(\), .*\bmicrophone=\(\)/),
  });
  const again = await send({ path, key: null, headers: { 'if-none-match': headers['etag'] ?? '' } });
  expect([again.status, again.text]).toEqual([304, '']);
  const head = await send({ path, key: null, method: 'HEAD' });
  expect([head.status, head.headers['content-length']]).toEqual([200, String(PAGE.length)]);
  const post = await send({ path, key: null, method: 'POST' });
  expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD']);
});

test('only pages of users request early who is signed in', async () => {
  const { send } = service();
  const pageAt = async (path: string) => (await send({ path, key: null, headers: { accept: WINDOW } })).text;
  for (const path of ['/', '/projects/docs', '/nothing'])
    expect(await pageAt(path)).toContain('<link rel="preload" href="/api/start"');
  for (const path of ['/docs/try', `/share/${'x'.repeat(43)}`]) {
    const page = await pageAt(path);
    expect(page).toContain('<title>caller-stats</title>');
    expect(page).not.toContain('/api/start');
  }
});

test('browsers cache files with a hash in their name, and revalidate others', async () => {
  const { send } = service();
  const { status, headers } = await send({ path: SCRIPT.path, key: null });
  expect([status, headers['cache-control'], headers['content-type']]).toEqual([
    200,
    'public, max-age=31536000, immutable',
    expect.stringMatching(/^(text|application)\/javascript; charset=utf-8$/),
  ]);
  const theme = await send({ path: '/theme.js', key: null });
  expect([theme.status, theme.headers['cache-control']]).toEqual([200, 'no-cache']);
});

test.each([
  ['br, gzip', 'br', brotliCompressSync],
  ['gzip', 'gzip', gzipSync],
  ['gzip;q=1, br;q=0.5', 'gzip', gzipSync],
  ['identity', undefined, Buffer.from],
  ['br;q=0, gzip;q=0', undefined, Buffer.from],
  ['zstd', undefined, Buffer.from],
] as const)('Accept-Encoding: %s gets the encoding %s', async (accepted, encoding, compress) => {
  const { send } = service();
  for (const [path, text] of [
    ['/', PAGE],
    [SCRIPT.path, SCRIPT.text],
  ] as const) {
    const { status, headers } = await send({ path, key: null, headers: { 'accept-encoding': accepted } });
    expect([status, headers['content-encoding'], headers['content-length']]).toEqual([
      200,
      encoding,
      String(compress(text).byteLength),
    ]);
    expect(headers['vary']).toMatch(/accept-encoding/i);
  }
  // Small files are not compressed.
  const theme = await send({ path: '/theme.js', key: null, headers: { 'accept-encoding': accepted } });
  expect([theme.status, theme.headers['content-encoding']]).toEqual([200, undefined]);
});

describe('the documentation', () => {
  test('is at /docs/, to which /docs redirects with a relative path', async () => {
    const { send } = service();
    const { status, headers } = await send({ path: '/docs', key: null });
    expect([status, headers['location']]).toEqual([308, 'docs/']);
  });

  test('redirects the address of a page with a slash behind it', async () => {
    const { send } = service();
    const { status, headers } = await send({ path: '/docs/settings/', key: null });
    expect([status, headers['location']]).toEqual([308, '../settings']);
    const tried = await send({ path: '/docs/try/', key: null });
    expect([tried.status, tried.headers['location']]).toEqual([308, '../try']);
    for (const path of ['/docs/nothing/', '/docs/settings//'])
      expect((await send({ path, key: null })).status).toBe(404);
  });

  test('refuses a range that a file does not have, and a condition that it does not meet', async () => {
    const { send } = service();
    const path = '/docs/settings';
    const whole = await send({ path, key: null });
    const beyond = await send({ path, key: null, headers: { range: 'bytes=100000-' } });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([
      416,
      `bytes */${whole.headers['content-length']}`,
    ]);
    expect(errorOf(beyond)).toMatch(/^The file does not have the bytes/);
    const other = await send({ path, key: null, headers: { 'if-match': '"other"' } });
    expect([other.status, errorOf(other)]).toEqual([412, expect.stringMatching(/If-Match/)]);
  });

  test.each(['/docs/', '/docs/settings', '/docs/files/datasource.yaml'])(
    '%s has a security policy and is revalidated',
    async (path) => {
      const { send } = service();
      const { status, headers, text } = await send({ path, key: null });
      expect(status).toBe(200);
      if (headers['content-type'] === 'text/html; charset=utf-8') expect(text).toBe(DOCS_PAGE);
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; /);
      const post = await send({ path, key: null, method: 'POST' });
      expect([post.status, post.headers['allow']]).toEqual([405, 'GET, HEAD']);
    },
  );

  test.each([
    ['/docs/settings.md', 'text/markdown', '# Settings\n'],
    ['/docs/llms.txt', 'text/plain', DOCS_LIST],
  ])('has %s for programs', async (path, type, text) => {
    const answer = await service().send({ path, key: null });
    expect(answer).toMatchObject({ status: 200, text });
    expect(answer.headers['content-type']).toMatch(new RegExp(`^${type}; charset=utf-8$`, 'i'));
  });

  test.each([
    ['', 'https://stats.example.org', 'https://stats.example.org/docs/settings.md'],
    ['/stats', 'https://example.org', 'https://example.org/stats/docs/settings.md'],
    ['/stats', undefined, 'http://127.0.0.1:4000/stats/docs/settings.md'],
  ] as const)(
    'with the base path "%s" and the public URL %s has the address %s',
    async (basePath, url, address) => {
      const { send } = await startService({ basePath, users: url === undefined ? {} : { publicUrl: url } });
      const { text } = await send({ path: `${basePath}/docs/llms.txt`, key: null });
      expect(text).toContain(`(${address})`);
    },
  );

  test('has files with a hash in their name, which browsers cache', async () => {
    const { status, headers } = await service().send({ path: DOCS_SCRIPT, key: null });
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  });
});
