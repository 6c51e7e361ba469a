import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCallerName } from '../../../src/domain/queries/caller.js';
import {
  type CallerRules,
  callerOfClient,
  callerRulesProblems,
  detectCaller,
  KNOWN_CALLERS,
} from '../../../src/domain/queries/caller-detection.js';
import { readVectors } from '../../support/vectors.js';
import { words } from '../../support/words.js';

const site: CallerRules = { siteOrigins: ['https://docs.example.com', 'https://*.preview.example.com:8443'] };

interface Case {
  readonly what: string;
  readonly headers: Record<string, string>;
  readonly rules?: CallerRules;
  readonly caller: string;
}

/** All clients run them. */
const { cases, clients, known } = readVectors<{
  readonly cases: readonly Case[];
  readonly clients: readonly { readonly name: string; readonly caller: string }[];
  readonly known: CallerRules['known'];
}>('callers');

describe.each([
  [
    'of a web-standard request',
    (headers: Record<string, string>) => new Request('http://127.0.0.1/', { headers }),
  ],
  ['of a Node request', (headers: Record<string, string>) => ({ headers })],
])('headers %s', (_kind, requestWith) => {
  test.each(cases.map((one) => [one.what, one] as const))('%s', (_what, { headers, caller, rules }) => {
    // A browser's `Headers` trims values, and so does every HTTP parser.
    expect(detectCaller(requestWith(headers), rules)).toBe(caller);
  });
});

test.each(clients)('the MCP client $name', ({ name, caller }) => {
  expect(callerOfClient(name)).toBe(caller);
});

test('the known callers are those of all clients', () => {
  expect(KNOWN_CALLERS).toEqual(known);
});

test('repeated headers are read, except for the caller header', () => {
  const request = { headers: { 'x-slack-signature': ['a', 'b'], 'user-agent': undefined } };
  expect(detectCaller(request)).toBe('slack');
  expect(detectCaller({ headers: { 'x-caller': ['a', 'b'] } }, { callerHeader: 'x-caller' })).toBe('unknown');
});

test('any name of a client results in a valid caller name, or in none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const caller = callerOfClient(name);
      expect(caller === '' || isCallerName(caller)).toBe(true);
    }),
  );
});

test('any headers result in a valid caller name', () => {
  const names = words('origin referer user-agent x-caller authorization x-slack-signature x-stainless-lang');
  const headers = fc.dictionary(
    fc.constantFrom(...names),
    fc.oneof(fc.string(), fc.webUrl(), fc.array(fc.string()), fc.constant(undefined)),
  );
  fc.assert(
    fc.property(headers, (sent) => {
      expect(isCallerName(detectCaller({ headers: sent }, { ...site, callerHeader: 'x-caller' }))).toBe(true);
    }),
  );
});

test.each(['*', 'https://*', 'https://*.'])('the invalid pattern %s matches no origin', (pattern) => {
  for (const origin of ['https://docs.example.com', 'https://docs', ''])
    expect(detectCaller({ headers: { origin } }, { siteOrigins: [pattern], fallback: 'other' })).toBe(
      'other',
    );
});

test('valid rules have no problems', () => {
  expect(callerRulesProblems({})).toEqual([]);
  const siteOrigins = ['http://localhost:3000', 'https://*.example.com', 'http://[::1]:80', 'https://docs'];
  expect(callerRulesProblems({ siteOrigins, known: KNOWN_CALLERS, fallback: 'other' })).toEqual([]);
});

test.each<readonly [string, CallerRules, readonly (string | RegExp)[]]>([
  ['a path', { siteOrigins: ['https://docs.example.com/'] }, [/^siteOrigins\[0\]: ".+\/" is not an origin/]],
  ['no scheme', { siteOrigins: ['https://a.test', 'docs.example.com'] }, [/^siteOrigins\[1\]: /]],
  ['any site', { siteOrigins: ['*', 'https://*'] }, [/^siteOrigins\[0\]/, /^siteOrigins\[1\]/]],
  ['text before the scheme', { siteOrigins: ['xhttps://docs.example.com'] }, [/^siteOrigins\[0\]: /]],
  ['half a name', { siteOrigins: ['https://*docs.example.com'] }, [/^siteOrigins\[0\]/]],
  ['an invalid fallback', { fallback: 'Elsewhere' }, [/^fallback: "Elsewhere" is not a name/]],
  [
    'callers without a condition, or with an invalid name',
    {
      known: [
        { caller: 'a b', userAgent: '' },
        { caller: 'a', userAgent: 'a', value: 'b' },
      ],
    },
    [
      'known[0]: has neither a userAgent nor a header to be known by',
      'known[1]: has a value, but no header for it',
      /^known\[0\]\.caller: "a b" is not a name/,
    ],
  ],
])('%s is a problem', (_what, rules, expected) => {
  expect(callerRulesProblems(rules)).toEqual(
    expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
  );
});

test.each(KNOWN_CALLERS.map((known) => [known] as const))('%j is detected', (known) => {
  const headers = {
    ...(known.userAgent === undefined ? {} : { 'user-agent': `${known.userAgent}1.0` }),
    ...(known.header === undefined ? {} : { [known.header]: known.value ?? 'any' }),
  };
  expect(detectCaller({ headers })).toBe(known.caller);
});
