/** Exports that bypass the framework get the same bytes as with it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { projectIdCharactersMax } from '../../src/domain/limits.js';
import { isProjectId } from '../../src/domain/projects/project.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { directly, get, ordinary, recordSome } from '../support/http/direct-export.js';
import { STATS, sharedService, startMs } from '../support/http/http.js';
import type { Answer } from '../support/http/http-checks.js';
import { projectOf } from '../support/storage/entities.js';

const shared = sharedService(directly);

/** Adds a header that prevents the bypass and does not change the framework's response. */
const withFramework = (bytes: string) => bytes.replace('\r\n\r\n', '\r\nContent-Length: 0\r\n\r\n');

const comparable = ({ status, headers: { date: _, ...headers }, text }: Answer) => ({
  status,
  headers: Object.entries(headers),
  text,
});

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** All legal ids: with capitals, underscores and hyphens, from the shortest to the longest. */
const legalProjectId = fc
  .tuple(
    fc.constantFrom(...letters),
    fc.string({ unit: fc.constantFrom(...letters, '_', '-'), maxLength: projectIdCharactersMax - 1 }),
  )
  .map((parts) => parts.join(''));

test('an ordinary export of a project with any legal id bypasses the framework', async () => {
  const service = shared();
  const by = { name: 'a test', address: null, at: startMs };
  const known = new Set(['docs', 'blog', 'rival-docs']);
  await fc.assert(
    fc.asyncProperty(legalProjectId, async (id) => {
      expect(isProjectId(id)).toBe(true);
      if (!known.has(id)) await service.store.createProject(projectOf(id, { createdAt: startMs }), by);
      known.add(id);
      await service.store.record(id, [{ id: 'one', caller: 'web', occurredAt: 0 }]);
      const path = ordinary.replace('docs', id);
      const bytes = get(path, ['Host: test', `Authorization: Bearer ${service.keys.admin}`]);
      service.calls.length = 0;
      const direct = await service.sendRaw(bytes);
      // Only the framework asks the watched store; a direct export reads its snapshot.
      expect(service.calls.filter(({ method }) => method !== 'touchKey')).toEqual([]);
      expect(JSON.parse(direct.text)).toEqual({ web: 1, api: 0, other: 0, total: 1 });
      expect(comparable(direct)).toEqual(comparable(await service.sendRaw(withFramework(bytes))));
    }),
    { examples: [['My_docs-2'], ['A'], ['0'], [`Z${'_'.repeat(projectIdCharactersMax - 1)}`]] },
  );
});

const date = fc.date({ min: new Date(-3 * dayMs), max: new Date(12 * dayMs), noInvalidDate: true });
const goodBound = fc.oneof(
  date.map((one) => one.toISOString()),
  date.map((one) => one.toISOString().slice(0, 10)),
);
const oddBound = fc.constantFrom(
  '1970-01-01T00:00:00+01:00',
  '1970-01-01T00:00:00%2B01:00',
  '1970-01-01T00%3A00%3a00Z',
  '1970-01-01T00%3A00%3A00Z',
  '1970-01-01=1',
  '1970-02-30',
  '1970-01-01#',
  '',
  '%31970-01-01',
);
const bound = fc.oneof(goodBound, oddBound);
const parameter = fc
  .tuple(
    fc.constantFrom('dateFrom', 'dateTo', 'dateto', 'date%46rom', 'x'),
    fc.constantFrom('=', '', '%3D'),
    bound,
  )
  .map((parts) => parts.join(''));
const usual = fc.tuple(bound, bound).map(([from, to]) => [`dateFrom=${from}`, `dateTo=${to}`]);
/** Sorting these bounds as texts puts them in chronological order. */
const good = fc.tuple(goodBound, goodBound).map((bounds) => {
  const [from, to] = bounds.sort();
  return `?dateFrom=${from}&dateTo=${to}`;
});
/** The parameters of part 4 of the contract, valid and invalid ones. */
const localParameter = fc.oneof(
  fc.constantFrom(
    'timeZone=Europe/Berlin',
    'timeZone=Europe%2FBerlin',
    'timeZone=utc',
    'timeZone=x',
    'timeZone=',
  ),
  fc.constantFrom('compare=previous', 'compare=previous-year', 'compare=none'),
  fc.constantFrom('caller=slack', 'caller=web', 'caller=nobody', 'caller=Slack', 'caller='),
  fc.constantFrom(
    'period=today',
    'period=last-month',
    'period=all',
    'period=last',
    'interval=day',
    'by=caller',
  ),
);
const local = fc
  .tuple(
    fc.option(good, { nil: '?dateFrom=1970-01-02' }),
    fc.array(localParameter, { minLength: 1, maxLength: 3 }),
  )
  .map(([bounds, parameters]) => `${bounds}&${parameters.join('&')}`);
const relative = fc
  .array(localParameter, { minLength: 1, maxLength: 3 })
  .map((parameters) => `?${parameters.join('&')}`);
const odd = fc
  .tuple(
    fc.oneof(usual, fc.array(parameter, { maxLength: 3 })),
    fc.constantFrom('&', '&', '&', '&&', ';', '&amp;'),
  )
  .map(([parameters, separator]) => (parameters.length === 0 ? '' : `?${parameters.join(separator)}`));
const query = fc.oneof(good, odd, local, relative);
const path = fc.oneof(
  { weight: 12, arbitrary: fc.constant(STATS) },
  fc.constantFrom(
    STATS.replace('docs', 'none'),
    STATS.replace('docs', 'DOCS'),
    STATS.replace('docs', '%64ocs'),
    STATS.replace('docs', ''),
    STATS.replace('docs', 'docs/docs'),
    `${STATS}/`,
    `/${STATS}`,
    `http://test${STATS}`,
  ),
);
/** `writing` has no scope to read; the allowlist of `elsewhere` does not include this address, that of `here` does. */
const keyNames = [
  'recording',
  'rivalAdmin',
  'writing',
  'elsewhere',
  'here',
  'reading',
  'readingBlog',
] as const;
const authorization = fc.oneof(
  { weight: 12, arbitrary: fc.constant('Authorization: Bearer ADMIN') },
  fc.constantFrom(
    'authorization:bearer  ADMIN ',
    'Authorization: BEARER ADMIN',
    'Authorization: Bearer ADMINx',
    'Authorization: Bearer\tADMIN',
    'Authorization: Basic ADMIN',
    'Authorization: ADMIN',
    'Authorization:',
    'X-Key: ADMIN',
  ),
);
const more = fc.subarray(
  [
    'Host: another',
    'Accept: text/csv',
    'Authorization: Bearer x',
    'Expect: 100-continue',
    'Connection: close',
    'X-Forwarded-For: 192.0.2.1',
  ],
  { maxLength: 2 },
);
const method = fc.oneof(
  { weight: 12, arbitrary: fc.constant('GET') },
  fc.constantFrom('POST', 'OPTIONS', 'DELETE'),
);
const version = fc.oneof({ weight: 12, arbitrary: fc.constant('1.1') }, fc.constant('1.0'));

test('any request gets the same response with and without the framework', async () => {
  const service = shared();
  await recordSome(service);
  const keys = {
    ...service.keys,
    writing: await service.addKey('writing', { type: 'admin', scopes: ['write'] }),
    elsewhere: await service.addKey('elsewhere', { type: 'admin', allow: ['192.0.2.1/32'] }),
    reading: await service.addKey('reading', { type: 'reading', projectId: 'docs' }),
    readingBlog: await service.addKey('reading blog', { type: 'reading', projectId: 'blog' }),
    here: await service.addKey('here', { type: 'admin', allow: ['127.0.0.1/32'] }),
  };
  const usually = { weight: 4, arbitrary: fc.constant([] as string[]) };
  const request = fc.record({
    path,
    query,
    authorization,
    more: fc.oneof(usually, more),
    method,
    version,
    key: fc.oneof({ weight: 12, arbitrary: fc.constant('admin' as const) }, fc.constantFrom(...keyNames)),
  });
  let direct = 0;
  await fc.assert(
    fc.asyncProperty(
      request,
      async ({
        path: base,
        query: search,
        authorization: given,
        more: others,
        method: verb,
        version: http,
        key,
      }) => {
        const lines = ['Host: test', given.replace('ADMIN', keys[key]), ...others];
        const bytes = get(base + search, lines, verb).replace('HTTP/1.1', `HTTP/${http}`);
        service.calls.length = 0;
        const one = await service.sendRaw(bytes);
        if (service.calls.length === 0 && one.status === 200) direct++;
        const other = await service.sendRaw(withFramework(bytes));
        expect(comparable(one)).toEqual(comparable(other));
        // The meaning of its URL is remembered now.
        expect(comparable(await service.sendRaw(bytes))).toEqual(comparable(other));
      },
    ),
    { numRuns: 600 },
  );
  // Enough requests must have bypassed the framework.
  expect(direct).toBeGreaterThan(80);
});
