/** Base paths, and the rest of a URL after one. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../../src/cli/settings/settings.js';
import { type BasePath, withinBasePath } from '../../../src/http/request/base-path.js';
import { words } from '../../support/words.js';

const readBasePath = (text: string) => readSettings(['basePath'], { basePath: text }, {}).basePath;

describe('a base path is refused', () => {
  test.each([
    ...words(
      'stats // //stats /stats// /a//b /.. /a/../b /./a /a?b /a#b /%61 /ä /" /<b> https://example.org/stats',
    ),
    '',
    '/a b',
  ])('%j', (text) => {
    expect(() => readBasePath(text)).toThrow(/^--base-path: .* is not a path such as \/stats/);
  });
});

test.each([
  ['/', ''],
  ['/stats', '/stats'],
  ['/stats/', '/stats'],
  ['/team-1/stats_v2.0~', '/team-1/stats_v2.0~'],
  ['/...', '/...'],
])('the base path %j is accepted', (text, expected) => {
  expect(readBasePath(text)).toBe(expected);
});

test.each([
  ['/stats', '/'],
  ['/stats?a=/b', '/?a=/b'],
  ['/stats/', '/'],
  ['/stats/livez', '/livez'],
  ['/stats//livez', '//livez'],
  ['/statsother', undefined],
  ['/stats%2Flivez', undefined],
  ['/STATS/livez', undefined],
  ['/livez', undefined],
  ['*', undefined],
  ['', undefined],
  ['http://example.org/stats/livez', undefined],
])('%j below /stats is %j', (url, expected) => {
  expect(withinBasePath(url, '/stats')).toBe(expected);
});

test('any path below a base path is found again', () => {
  const path = fc.string().map((text) => `/${text}`);
  const basePath = fc.constantFrom<BasePath>('', '/stats', '/team/stats');
  fc.assert(
    fc.property(path, basePath, (before, base) => {
      expect(withinBasePath(`${base}${before}`, base)).toBe(before);
    }),
  );
});
