/** What the page about OWASP ASVS says of who may do what, compared with a server: every key with every operation. */
import { expect, test } from 'vitest';
import { sharedService } from '../../support/http/http.js';
import { tableBelow } from '../../tidy/sources.js';

const service = sharedService();
const below = '/v1/analytics/:projectId/assistant/';

const rows = tableBelow('docs/engineering/security-asvs.md', 'of the API').map(
  ([operations = '', who = '']) => ({
    operations: [...operations.matchAll(/`([A-Z]+) ([^`]+)`/g)].map(
      ([, method, path = '']) => `${method} ${path.startsWith('/') ? path : below + path}`,
    ),
    who: who.replaceAll('`', '').split(', '),
  }),
);

const documented = new Map(
  rows.flatMap(({ operations, who }) => operations.map((one) => [one, who] as const)),
);

/** The kinds of keys that the operation does not refuse. */
async function allowed(
  holders: Readonly<Record<string, string>>,
  method: string,
  route: string,
): Promise<string[]> {
  const path = route.replace(':projectId', 'docs').replace(':correctionId', 'none');
  const headers = { 'content-type': 'application/json', 'caller-stats-project': 'docs' };
  const body = method === 'GET' ? {} : { body: '{' };
  const answers = Object.entries(holders).map(async ([name, key]) => {
    const { status } = await service().send({ method, path, key, headers, ...body });
    return [401, 403, 405].includes(status) ? [] : [name];
  });
  return (await Promise.all(answers)).flat();
}

test('the table of the rights of keys has every operation that needs one, and who may use it', async () => {
  const { routes, keys, addKey } = service();
  const holders = {
    recording: keys.recording,
    reading: await addKey('reads', { type: 'reading', projectId: 'docs' }),
    'admin with read': await addKey('reads all', { type: 'admin', scopes: ['read'] }),
    'admin with write': keys.admin,
  };
  const found: Record<string, readonly string[]> = {};
  for (const route of [...routes().keys()].filter((one) => /^\/(?:v1|mcp)(?:\/|$)/.test(one)))
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const who = await allowed(holders, method, route);
      if (who.length > 0) found[`${method} ${route}`] = who;
    }
  expect(found).toEqual(Object.fromEntries(documented));
  expect(documented.size).toBeGreaterThan(12);
});
