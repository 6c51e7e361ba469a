/** The settings of projects that say which spans and log records are queries. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { telemetryTextCharactersMax } from '../../../src/domain/limits.js';
import { TELEMETRY_DEFAULTS } from '../../../src/domain/queries/telemetry-defaults.js';
import { KNOWN_RULES, type QueryRule } from '../../../src/domain/queries/telemetry-rules.js';
import {
  mapTelemetrySettings,
  type OwnTelemetryTexts,
  ProjectRules,
  parseAttributeName,
  parseIdSource,
  parseQueryRules,
  parseSiteOrigins,
  parseTelemetryText,
  TELEMETRY_SETTINGS,
  type TelemetrySetting,
} from '../../../src/domain/queries/telemetry-settings.js';

const none: OwnTelemetryTexts = mapTelemetrySettings(() => null);

const INVALID: Readonly<Record<TelemetrySetting, string>> = {
  otlpQuery: 'a=',
  otlpId: 'a b',
  otlpCaller: 'a=b',
  otlpDefaultCaller: 'Slack',
  otlpSiteOrigins: 'docs.example.com',
};

describe('a text of a project', () => {
  test.each(TELEMETRY_SETTINGS)('of %s is refused if it is invalid', (name) => {
    for (const text of ['', INVALID[name]]) {
      const refused = parseTelemetryText(name, text);
      expect(refused).toMatchObject({ ok: false, problems: [expect.stringMatching(/^is n/)] });
    }
  });

  test.each(TELEMETRY_SETTINGS)('of %s is kept as it is if it is valid', (name) => {
    expect(parseTelemetryText(name, TELEMETRY_DEFAULTS[name])).toEqual({
      ok: true,
      value: TELEMETRY_DEFAULTS[name],
    });
  });

  test('is bounded', () => {
    const longest = `a=${'b'.repeat(telemetryTextCharactersMax - 2)}`;
    expect(parseTelemetryText('otlpQuery', longest).ok).toBe(true);
    expect(parseTelemetryText('otlpQuery', `${longest}b`)).toEqual({
      ok: false,
      problems: ['is longer than 1000 characters'],
    });
  });

  test.each(['a=\u0000', 'a=b\n', 'a=\ud800'])('has no control character: %j', (text) => {
    expect(parseTelemetryText('otlpQuery', text)).toEqual({
      ok: false,
      problems: ['has a control character'],
    });
  });
});

describe('the rules of a project', () => {
  test.each(TELEMETRY_SETTINGS)('are not found while its %s is invalid', (name) => {
    const rules = new ProjectRules();
    const own = { ...none, [name]: INVALID[name] };
    for (let times = 0; times < 2; times++)
      expect(() => rules.find(own)).toThrow(
        expect.objectContaining({ code: 'unavailable', message: expect.stringContaining(name) }),
      );
    expect(rules.find(none).id).toBe('question');
  });

  const anyText: { readonly [Name in TelemetrySetting]: fc.Arbitrary<string> } = {
    otlpQuery: fc.constantFrom('default', 'a', 'a=b,c', 'default;http.route=/ask'),
    otlpId: fc.constantFrom('question', 'trace', 'span', 'message.id'),
    otlpCaller: fc.constantFrom('caller_stats.caller', 'a', 'b'),
    otlpDefaultCaller: fc.constantFrom('unknown', 'web', 'slack'),
    otlpSiteOrigins: fc.constantFrom('none', 'https://a.test', 'https://a.test,https://*.b.test'),
  };
  const anyOwn = fc.record(mapTelemetrySettings((name) => fc.option(anyText[name])));

  test('are those of its texts, and the defaults where it has none', () => {
    fc.assert(
      fc.property(fc.array(anyOwn, { maxLength: 5 }), (projects) => {
        const rules = new ProjectRules();
        // No text of one project applies to another.
        for (const own of [...projects, none]) {
          const whole = mapTelemetrySettings((name) => own[name] ?? TELEMETRY_DEFAULTS[name]);
          expect(rules.find(own)).toEqual(new ProjectRules().find(whole));
        }
      }),
    );
  });

  test('are the defaults without texts of its own', () => {
    expect(new ProjectRules().find(none)).toEqual({
      queries: KNOWN_RULES,
      id: 'question',
      callerAttribute: 'caller_stats.caller',
      detection: { siteOrigins: [], fallback: 'unknown' },
    });
  });

  test('are its own, one by one', () => {
    const rules = new ProjectRules();
    const find = (own: Partial<OwnTelemetryTexts>) => rules.find({ ...none, ...own });
    const usual = rules.find(none);
    const { detection } = usual;
    expect(find({ otlpQuery: 'a' })).toEqual({ ...usual, queries: [{ attribute: 'a', values: [] }] });
    expect(find({ otlpId: 'm' })).toEqual({ ...usual, id: { attribute: 'm' } });
    expect(find({ otlpCaller: 'c' })).toEqual({ ...usual, callerAttribute: 'c' });
    expect(find({ otlpDefaultCaller: 'web' })).toEqual({
      ...usual,
      detection: { ...detection, fallback: 'web' },
    });
    expect(find({ otlpSiteOrigins: 'none' })).toEqual({
      ...usual,
      detection: { ...detection, siteOrigins: [] },
    });
  });

  test('are parsed once', () => {
    const rules = new ProjectRules();
    expect(rules.find({ ...none, otlpId: 'trace' })).toBe(rules.find({ ...none, otlpId: 'trace' }));
  });
});

describe('the parsers', () => {
  test.each(['', '=', '=a', 'a b=c', 'a=', 'a=b,', 'a,b=c', 'a;', ';a', 'a;;b', 'x'.repeat(256)])(
    'refuses the query rules %j',
    (text) => {
      expect(parseQueryRules(text).ok).toBe(false);
    },
  );
  test.each<[string, readonly QueryRule[]]>([
    ['a', [{ attribute: 'a', values: [] }]],
    ['a=b', [{ attribute: 'a', values: ['b'] }]],
    ['a=b,c d', [{ attribute: 'a', values: ['b', 'c d'] }]],
    ['url.path=/ask?a=b', [{ attribute: 'url.path', values: ['/ask?a=b'] }]],
    [
      'a;b=c',
      [
        { attribute: 'a', values: [] },
        { attribute: 'b', values: ['c'] },
      ],
    ],
    ['default', KNOWN_RULES],
    ['a;default', [{ attribute: 'a', values: [] }, ...KNOWN_RULES]],
  ])('parses the query rules %j', (text, value) => {
    expect(parseQueryRules(text)).toEqual({ ok: true, value });
  });
  test.each(['', 'a,b', 'a=b', 'a b', 'x'.repeat(256)])('refuses %j as an id and as an attribute', (text) => {
    expect([parseIdSource(text).ok, parseAttributeName(text).ok]).toEqual([false, false]);
  });
  test.each([
    '',
    'docs.example.com',
    'https://docs.example.com/',
    'https://a.test,',
    'none,https://a.test',
    'None',
  ])('refuses %j as origins', (text) => {
    expect(parseSiteOrigins(text).ok).toBe(false);
  });
  test('accept valid ids, attributes and origins', () => {
    expect(['question', 'trace', 'span', 'm'].map((text) => parseIdSource(text))).toEqual(
      ['question', 'trace', 'span', { attribute: 'm' }].map((value) => ({ ok: true, value })),
    );
    expect(parseAttributeName('x'.repeat(255))).toEqual({ ok: true, value: 'x'.repeat(255) });
    expect(parseSiteOrigins('https://a.test, https://*.b.test')).toEqual({
      ok: true,
      value: ['https://a.test', 'https://*.b.test'],
    });
    expect(parseSiteOrigins('none')).toEqual({ ok: true, value: [] });
  });
});
