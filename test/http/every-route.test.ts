/**
 * What holds for every path and every method, those that are added later too: the list is the app's own. The headers of
 * every answer and the shape of every error are checked in `send`; here is what sends everything.
 */
import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { sharedService } from '../support/http.js';

/** Paths below `/v1` that need no key. To put one more here is a decision; write it into SECURITY.md too. */
const OPEN = ['/v1/leaked-keys'];

/** Node speaks CONNECT only over a connection of its own. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

/** The path with something in the place of its parameters. */
function example(path: string, parameter: string): string {
  return path.replaceAll(/:\w+|\*/g, parameter);
}

describe('every route', () => {
  const service = sharedService();

  test('is known to this test', () => {
    const paths = [...service().routes().keys()];
    expect(paths).toEqual(
      expect.arrayContaining([
        '/',
        '/livez',
        '/docs',
        '/docs/:page',
        '/docs/try',
        '/openapi.json',
        '/v1/leaked-keys',
        '/v1/traces',
        '/v1/logs',
        '/v1/metrics',
        '/v1/analytics/:projectId/assistant/caller-stats',
        '/v1/analytics/:projectId/assistant/caller-stats/series',
        '/v1/analytics/:projectId/assistant/callers',
        '/v1/analytics/:projectId/assistant/queries',
      ]),
    );
    for (const path of OPEN) expect(paths).toContain(path);
  });

  test('takes every method that Node can read, if only to refuse it', () => {
    const lacking = [...service().routes()].flatMap(([path, known]) =>
      methods.filter((method) => !known.includes(method)).map((method) => `${method} ${path}`),
    );
    // What the plugin of the page adds has no more than its own; /docs/try/* refuses the others.
    expect(lacking.filter((one) => !/ \/docs\/try\//.test(one))).toEqual([]);
    const others = methods.filter((method) => method !== 'GET' && method !== 'HEAD');
    expect(service().routes().get('/docs/try/*')).toEqual(expect.arrayContaining(others));
  });

  test.each(['without a key', 'with one', 'with a recording key'])(
    '%s, and every method: security headers, errors of one shape, no cookie, nothing for other origins',
    async (which) => {
      const { send, routes, keys } = service();
      const key = { 'without a key': null, 'with one': keys.admin }[which];
      const headers = { origin: 'https://other.test', 'access-control-request-method': 'POST' };
      for (const path of routes().keys()) {
        for (const method of methods) {
          const asked = {
            method,
            path: example(path, 'docs'),
            key: key === undefined ? keys.recording : key,
          };
          const answer = await send({ ...asked, headers, from: '192.0.2.1' });
          expect(answer.status).toBeLessThan(500);
        }
      }
    },
  );

  test('below /v1 demands a key, whatever the method; the open ones are few', async () => {
    const { send, routes, keys, calls } = service();
    const closed = [...routes().keys()].filter((path) => path.startsWith('/v1') && !OPEN.includes(path));
    expect(closed.length).toBeGreaterThanOrEqual(2);
    calls.length = 0;
    for (const path of closed) {
      for (const method of methods) {
        for (const parameter of ['docs', 'no-such-project']) {
          for (const key of [null, keys.unknown, keys.revoked]) {
            const answer = await send({ method, path: example(path, parameter), key, from: '192.0.2.1' });
            expect([answer.status, answer.headers['www-authenticate']], `${method} ${path}`).toEqual([
              401,
              'Bearer',
            ]);
          }
        }
      }
    }
    expect(calls.filter(({ method }) => method !== 'findAccess')).toEqual([]);
  });

  test('that is open tells a key from none in no way', async () => {
    const { send, routes, keys } = service();
    const open = [...routes().keys()].filter((path) => !path.startsWith('/v1') || OPEN.includes(path));
    for (const path of open) {
      for (const method of ['GET', 'POST']) {
        const seen = async (key: string | null) => {
          const { status, text } = await send({ method, path: example(path, 'x'), key, from: '192.0.2.1' });
          return [status, text];
        };
        expect(await seen(keys.admin), `${method} ${path}`).toEqual(await seen(null));
      }
    }
  });
});

describe('where there is no route, the same holds', () => {
  const service = sharedService();
  test.each(['/nowhere', '/v1/nowhere', '/%zz', '/v1/analytics/%zz/assistant/queries'])(
    '%s',
    async (path) => {
      const { send } = service();
      for (const method of methods) {
        const answer = await send({ method, path, from: '192.0.2.1' });
        expect([400, 404]).toContain(answer.status);
      }
    },
  );
});
