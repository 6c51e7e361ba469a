import { describe, expect, test } from 'vitest';
import {
  parseAttributeName,
  parseIdSource,
  parseQueryRule,
  parseSiteOrigins,
  type TelemetryRules,
} from '../../../src/domain/queries/telemetry.js';

describe('the rules as they are written', () => {
  test.each(['', '=', '=a', 'a b=c', 'a=', 'a=b,', 'a,b=c', 'x'.repeat(256)])('no query rule: %j', (text) => {
    expect(parseQueryRule(text).ok).toBe(false);
  });
  test.each<[string, TelemetryRules['query']]>([
    ['a', { attribute: 'a', values: [] }],
    ['a=b', { attribute: 'a', values: ['b'] }],
    ['a=b,c d', { attribute: 'a', values: ['b', 'c d'] }],
    ['url.path=/ask?a=b', { attribute: 'url.path', values: ['/ask?a=b'] }],
  ])('a query rule: %j', (text, value) => {
    expect(parseQueryRule(text)).toEqual({ ok: true, value });
  });
  test.each(['', 'a,b', 'a=b', 'a b', 'x'.repeat(256)])('neither id nor attribute: %j', (text) => {
    expect([parseIdSource(text).ok, parseAttributeName(text).ok]).toEqual([false, false]);
  });
  test.each(['', 'docs.example.com', 'https://docs.example.com/', 'https://a.test,'])(
    'no origins: %j',
    (text) => {
      expect(parseSiteOrigins(text).ok).toBe(false);
    },
  );
  test('and those that are good', () => {
    expect(['trace', 'span', 'm'].map((text) => parseIdSource(text))).toEqual(
      ['trace', 'span', { attribute: 'm' }].map((value) => ({ ok: true, value })),
    );
    expect(parseAttributeName('x'.repeat(255))).toEqual({ ok: true, value: 'x'.repeat(255) });
    expect(parseSiteOrigins('https://a.test, https://*.b.test')).toEqual({
      ok: true,
      value: ['https://a.test', 'https://*.b.test'],
    });
  });
});
