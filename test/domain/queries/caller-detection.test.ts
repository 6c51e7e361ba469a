import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCallerName } from '../../../src/domain/queries/caller.js';
import {
  type CallerRules,
  callerRulesProblems,
  detectCaller,
  KNOWN_CALLERS,
} from '../../../src/domain/queries/caller-detection.js';
import { words } from '../../support/words.js';

const site: CallerRules = { siteOrigins: ['https://docs.example.com', 'https://*.preview.example.com:8443'] };

const docs = 'https://docs.example.com';
const local = 'http://localhost:3000';
const below: CallerRules = { siteOrigins: ['https://*.example.com'] };
const key = { authorization: 'Bearer a' };
const known = (...callers: NonNullable<CallerRules['known']>): CallerRules => ({ known: callers });

type Case = readonly [what: string, headers: Record<string, string>, caller: string, rules?: CallerRules];

const cases: readonly Case[] = [
  ['no headers', {}, 'unknown'],
  ['nothing known', { 'user-agent': 'Mozilla/5.0' }, 'unknown', site],
  ['nothing known, with a fallback', {}, 'elsewhere', { fallback: 'elsewhere' }],

  ['a page of the site', { origin: docs }, 'web', site],
  ['a page of the site, in capitals', { origin: 'HTTPS://Docs.Example.com' }, 'web', site],
  ['a page of another site', { origin: 'https://example.com' }, 'unknown', site],
  ['a site whose name starts with that of the site', { origin: `${docs}.evil.test` }, 'unknown', site],
  ['a page of another scheme', { origin: 'http://docs.example.com' }, 'unknown', site],
  ['a page of another port', { origin: `${docs}:444` }, 'unknown', site],
  ['a subdomain of a pattern', { origin: 'https://a.b.preview.example.com:8443' }, 'web', site],
  ['the host of a pattern itself', { origin: 'https://preview.example.com:8443' }, 'unknown', site],
  ['an empty subdomain', { origin: 'https://.preview.example.com:8443' }, 'unknown', site],
  [
    'a user name in front of the host',
    { origin: 'https://evil.test/@a.preview.example.com:8443' },
    'unknown',
    site,
  ],
  ['a page without an origin', { origin: 'null', referer: `${docs}/` }, 'unknown', site],
  ['plain navigation', { referer: `${docs}/start?a=1#b` }, 'web', site],
  ['plain navigation from elsewhere', { referer: `https://elsewhere.test/${docs}` }, 'unknown', site],
  ['a referer that is not a URL', { referer: 'docs.example.com' }, 'unknown', site],
  ['a page, without site origins', { origin: docs }, 'unknown'],
  ['a page of the site that has a key', { origin: docs, ...key }, 'web', site],
  ['a page of the site that uses an SDK', { origin: docs, 'x-stainless-lang': 'js' }, 'web', site],
  ['several levels below a pattern', { origin: 'https://a.docs.eu.example.com' }, 'web', below],
  ['one level below a pattern', { origin: docs }, 'web', below],
  [
    'any name below a top-level domain',
    { origin: 'https://docs.eu' },
    'web',
    { siteOrigins: ['https://*.eu'] },
  ],
  ['a page without TLS', { referer: `${local}/start` }, 'web', { siteOrigins: [local] }],
  ['an empty site origin', {}, 'unknown', { siteOrigins: [''] }],
  ['a path inside a host name', { origin: 'https://docs/x.example.com' }, 'unknown', below],
  ['a URL inside another one', { referer: `about:${docs}/` }, 'unknown', site],

  ['Slack, signed', { 'x-slack-signature': 'v0=a' }, 'slack'],
  ['Slack, by its user agent', { 'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)' }, 'slack'],
  ['an SDK with a key', { 'x-stainless-lang': 'python', ...key }, 'sdk-python'],
  ['an SDK of an unknown language', { 'x-stainless-lang': 'cobol', ...key }, 'api'],
  ['a client of the Model Context Protocol', { 'mcp-protocol-version': '2025-06-18' }, 'mcp'],
  [
    'a user agent of own rules',
    { 'user-agent': 'acme-bot/2' },
    'acme',
    known({ caller: 'acme', userAgent: 'Acme-Bot/' }),
  ],
  ['a header of own rules', { 'x-acme': '1' }, 'acme', known({ caller: 'acme', header: 'X-Acme' })],
  ['a known caller that own rules leave out', { 'x-slack-signature': 'v0=a' }, 'unknown', known()],
  [
    'several callers, of which the first match counts',
    { 'user-agent': 'b a' },
    'second',
    known(
      { caller: 'first', userAgent: 'c' },
      { caller: 'second', userAgent: 'a' },
      { caller: 'third', userAgent: 'b' },
    ),
  ],

  ['a call with a token', key, 'api'],
  ['a call with a key', { 'x-api-key': 'a' }, 'api'],
  ['a call with an empty header', { authorization: '' }, 'unknown'],
  ['a call with another API header', { 'x-internal': '1' }, 'api', { apiHeaders: ['X-Internal'] }],
  ['a call with a key that is not an API header', key, 'unknown', { apiHeaders: ['x-internal'] }],

  [
    'a caller that names itself',
    { 'x-caller': ' sdk-rust ', ...key },
    'sdk-rust',
    { callerHeader: 'X-Caller' },
  ],
  ['a caller that names itself web', { 'x-caller': 'web' }, 'web', { callerHeader: 'x-caller' }],
  ['an invalid name', { 'x-caller': 'Robert; DROP', ...key }, 'api', { callerHeader: 'x-caller' }],
  ['a caller that names itself in a header that is not read', { 'x-caller': 'sdk-rust' }, 'unknown'],
];

describe.each([
  [
    'of a web-standard request',
    (headers: Record<string, string>) => new Request('http://127.0.0.1/', { headers }),
  ],
  ['of a Node request', (headers: Record<string, string>) => ({ headers })],
])('headers %s', (_kind, requestWith) => {
  test.each(cases.map((one) => [one[0], one] as const))('%s', (_what, [, headers, caller, rules]) => {
    // A browser's `Headers` trims values, and so does every HTTP parser.
    expect(detectCaller(requestWith(headers), rules)).toBe(caller);
  });
});

test('repeated headers are read, except for the caller header', () => {
  const request = { headers: { 'x-slack-signature': ['a', 'b'], 'user-agent': undefined } };
  expect(detectCaller(request)).toBe('slack');
  expect(detectCaller({ headers: { 'x-caller': ['a', 'b'] } }, { callerHeader: 'x-caller' })).toBe('unknown');
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
