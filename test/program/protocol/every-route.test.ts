/** Sends every method to every route of the app. `send` checks the headers of each response and the form of each error. */
import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { sharedService } from '../../support/http/http.js';
import { isDeep } from '../../support/volume.js';

const needsKey = (path: string): boolean => path === '/mcp' || path.startsWith('/v1');

/** `/mcp` says where applications ask for a token. */
const challengeOf = (path: string): RegExp => (path === '/mcp' ? /^Bearer resource_metadata="/ : /^Bearer$/);

/** Node does not route CONNECT to the app. */
const methods = METHODS.filter((method) => method !== 'CONNECT');
const COMMON_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE'];

const UNKNOWN_PATHS = ['/nowhere', '/v1/nowhere', '/%zz', '/v1/analytics/%zz/assistant/queries'];

/** The path with its parameters filled in. */
function example(path: string, parameter: string): string {
  return path.replaceAll(/:\w+|\*/g, parameter);
}

describe('every route', () => {
  const service = sharedService();

  test('is in the list of routes', () => {
    const paths = [...service().routes().keys()];
    const some = ['/', '/livez', '/docs/:page', '/v1/analytics/:projectId/assistant/queries'];
    for (const path of some) expect(paths).toContain(path);
  });

  test('is found whatever the method is, if only to reject it', async () => {
    const { send, routes } = service();
    for (const path of routes().keys()) {
      const statuses = new Map<string, number>();
      for (const method of isDeep ? methods : COMMON_METHODS) {
        const { status, text } = await send({ method, path: example(path, 'docs'), key: null });
        expect(text, `${method} ${path}`).not.toContain('no such route');
        statuses.set(method, status);
      }
      // It has no text.
      expect(statuses.get('HEAD'), `HEAD ${path}`).toBe(statuses.get('GET'));
    }
  });

  test.each([
    ['without a key', null, methods],
    ['with an admin key', 'admin', isDeep ? methods : COMMON_METHODS],
    ['with a recording key', 'recording', isDeep ? methods : COMMON_METHODS],
  ] as const)('responds correctly %s', async (_what, name, sent) => {
    const { send, routes, keys } = service();
    const key = name === null ? null : keys[name];
    const headers = { origin: 'https://other.test', 'access-control-request-method': 'POST' };
    for (const path of [...routes().keys(), ...UNKNOWN_PATHS]) {
      for (const method of sent) {
        const answer = await send({ method, path: example(path, 'docs'), key, headers, from: '192.0.2.1' });
        expect(answer.status).toBeLessThan(500);
      }
    }
  });

  test('below /v1, and /mcp, needs a key, for every method', async () => {
    const { send, routes, keys, calls } = service();
    const restricted = [...routes().keys()].filter(needsKey);
    expect(restricted.length).toBeGreaterThanOrEqual(2);
    calls.length = 0;
    for (const path of restricted) {
      for (const method of methods) {
        for (const parameter of ['docs', 'no-such-project']) {
          for (const key of [null, keys.unknown, keys.revoked]) {
            const answer = await send({ method, path: example(path, parameter), key, from: '192.0.2.1' });
            expect([answer.status, answer.headers['www-authenticate']], `${method} ${path}`).toEqual([
              401,
              expect.stringMatching(challengeOf(path)),
            ]);
          }
        }
      }
    }
    expect(calls.filter(({ method }) => method !== 'findAccess')).toEqual([]);
  });

  test('that needs no key ignores it', async () => {
    const { send, routes, keys } = service();
    const open = [...routes().keys()].filter((path) => !needsKey(path));
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
