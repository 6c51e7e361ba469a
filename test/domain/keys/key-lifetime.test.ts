/** Rotation and expiry of keys, scopes, and e-mail addresses of members. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApiKey, KEY_TYPES, type KeyType, parseScopes } from '../../../src/domain/keys/api-key.js';
import {
  DEFAULT_GRACE,
  defaultExpiry,
  parseExpiry,
  parseExpiryWithin,
  parseGrace,
  parseKeyLife,
  planRotation,
} from '../../../src/domain/keys/key-lifetime.js';
import { emailCharactersMax, keyGraceDaysMax, keyLifeDaysMax } from '../../../src/domain/limits.js';
import { toEmail } from '../../../src/domain/people/member.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { keyOf } from '../../support/storage/entities.js';
import { words } from '../../support/words.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
function keyWith(more: Partial<ApiKey>): ApiKey {
  return keyOf('a', { createdAt: nowMs - dayMs, ...more });
}

describe('a rotation', () => {
  const plan = { nowMs, graceMs: dayMs, lifeMsMax: null };

  test.each<[string, Partial<ApiKey>, string]>([
    ['revoked', { revokedAt: nowMs - 1 }, 'is revoked; only an active key can be rotated'],
    ['expired', { expiresAt: nowMs }, 'is expired; only an active key can be rotated'],
    ['disabled', { disabledAt: nowMs - 1 }, 'is disabled; only an active key can be rotated'],
    ['rotated', { successorId: 'b' }, 'was already rotated; rotate its successor b'],
    [
      'revoked and rotated',
      { revokedAt: 1, successorId: 'b' },
      'is revoked; only an active key can be rotated',
    ],
  ])('of a %s key is refused', (_what, more, problem) => {
    expect(planRotation(keyWith(more), plan)).toEqual({ ok: false, problems: [problem] });
  });

  const time = fc.integer({ min: 1, max: 4000 * dayMs });
  test('never extends the old key, and ends it after the grace period', () => {
    fc.assert(
      fc.property(
        fc.option(time),
        time,
        fc.nat(30 * dayMs),
        fc.option(time),
        (left, age, graceMs, lifeMsMax) => {
          const expiresAt = left === null ? null : nowMs + left;
          const createdAt = nowMs - age;
          const result = planRotation(keyWith({ createdAt, expiresAt }), { nowMs, graceMs, lifeMsMax });
          if (!result.ok) throw new Error(result.problems.join());
          const { value } = result;
          expect(value.expiresAt).toBe(Math.min(nowMs + graceMs, expiresAt ?? Number.MAX_SAFE_INTEGER));
          // The successor lives as long as the old key did, or up to the longest allowed life.
          const lives = [expiresAt === null ? null : expiresAt - createdAt, lifeMsMax];
          const bounds = lives.filter((life) => life !== null);
          expect(value.successor.expiresAt).toBe(bounds.length === 0 ? null : nowMs + Math.min(...bounds));
        },
      ),
    );
  });

  test.each([
    ['0', 0],
    ['0m', 0],
    ['30m', 1_800_000],
    [DEFAULT_GRACE, dayMs],
    [`${keyGraceDaysMax}d`, keyGraceDaysMax * dayMs],
    [`${keyGraceDaysMax * 24}h`, keyGraceDaysMax * dayMs],
  ])('accepts the grace period %j', (text, graceMs) => {
    expect(parseGrace(text)).toEqual({ ok: true, value: graceMs });
  });

  test.each([...words(`1 -1d 1.5h 1w 24H ${keyGraceDaysMax + 1}d 9999999m 1e1d`), '', ' 1d', '1d '])(
    'refuses the grace period %j',
    (text) => {
      expect(parseGrace(text)).toMatchObject({ ok: false });
    },
  );
});

describe('an expiry with a longest allowed life', () => {
  const max = 30 * dayMs;
  test.each<[KeyType, number | null, string]>([
    ['admin', null, '90d'],
    ['admin', max, '30d'],
    ['admin', 90 * dayMs, '90d'],
    ['admin', 91 * dayMs, '90d'],
    ['reading', null, '90d'],
    ['reading', max, '30d'],
    ['recording', null, 'never'],
    ['recording', max, '30d'],
    ['recording', 365 * dayMs, '365d'],
  ])('of a key of type %s, with a longest life of %j, is by default %s', (type, lifeMsMax, expected) => {
    expect(defaultExpiry(type, lifeMsMax)).toBe(expected);
  });

  test.each<[string, number | null, number | null]>([
    ['never', null, null],
    ['30d', max, nowMs + max],
    ['1d', max, nowMs + dayMs],
    ['2026-07-15T12:00:00Z', max, nowMs + max],
  ])('of %j, with a longest life of %j, is %j', (text, lifeMsMax, expiresAt) => {
    expect(parseExpiryWithin(text, nowMs, lifeMsMax)).toEqual({ ok: true, value: expiresAt });
  });

  test.each(['never', '31d', '2026-07-15T12:00:00.001Z'])('of %j is refused as too late', (text) => {
    expect(parseExpiryWithin(text, nowMs, max)).toEqual({
      ok: false,
      problems: ['is later than the longest life of a key allows: 2026-07-15T12:00:00.000Z'],
    });
  });

  test.each(['', '0d', 'soon', '2026-06-15'])('of %j is refused as without a longest life', (text) => {
    expect(parseExpiryWithin(text, nowMs, max)).toEqual(parseExpiryWithin(text, nowMs, null));
    expect(parseExpiryWithin(text, nowMs, max)).toMatchObject({ ok: false });
  });

  test('is never later than that life allows', () => {
    const asked = fc.oneof(
      fc.constant(() => 'never'),
      fc.constantFrom(...KEY_TYPES).map((type) => (lifeMs: number) => defaultExpiry(type, lifeMs)),
      fc.nat(4000).map((days) => () => `${days}d`),
    );
    fc.assert(
      fc.property(asked, fc.integer({ min: 1, max: keyLifeDaysMax }), (textOf, days) => {
        const result = parseExpiryWithin(textOf(days * dayMs), nowMs, days * dayMs);
        if (!result.ok) return;
        expect(result.value).toBeGreaterThan(nowMs);
        expect(result.value).toBeLessThanOrEqual(nowMs + days * dayMs);
      }),
    );
  });

  test.each([
    ['none', null],
    ['1d', dayMs],
    ['365d', 365 * dayMs],
    [`${keyLifeDaysMax}d`, keyLifeDaysMax * dayMs],
  ])('accepts the longest life %j', (text, lifeMs) => {
    expect(parseKeyLife(text)).toEqual({ ok: true, value: lifeMs });
  });

  test.each([...words(`0d -1d 90 1.5d never NONE ${keyLifeDaysMax + 1}d 1e2d 1days`), '', ' 1d'])(
    'refuses the longest life %j',
    (text) => {
      expect(parseKeyLife(text)).toMatchObject({ ok: false });
    },
  );
});

describe('scopes', () => {
  test.each([
    ['read', ['read']],
    ['write', ['read', 'write']],
    ['read,write', ['read', 'write']],
    [' write , read ', ['read', 'write']],
    ['read,read', ['read']],
  ])('of %j are %j', (text, scopes) => {
    expect(parseScopes(text)).toEqual({ ok: true, value: scopes });
  });

  test.each(['', ',', 'read,', 'Read', 'admin', 'read write', 'read,delete', '*'])(
    'are refused: %j',
    (text) => {
      expect(parseScopes(text)).toMatchObject({
        ok: false,
        problems: [expect.stringMatching(/is not a scope/), ...(text === ',' ? [expect.anything()] : [])],
      });
    },
  );
});

describe('the e-mail address of a member', () => {
  test.each([
    ['a@b.io', 'a@b.io'],
    [' Ada.Lovelace+docs@Example.COM ', 'ada.lovelace+docs@example.com'],
    ["o'neil@sub.example.co.uk", "o'neil@sub.example.co.uk"],
    [`${'a'.repeat(emailCharactersMax - 5)}@b.io`, `${'a'.repeat(emailCharactersMax - 5)}@b.io`],
  ])('%j is normalized to %j', (text, email) => {
    expect(toEmail(text)).toBe(email);
    expect(toEmail(email), 'normalized again').toBe(email);
  });

  test.each([
    ...words(`
    a @b a@ a@@b a@b a@b.c a@b. .a@b.io a..a@b.io abc..d@e.io a\0@b.io ä@b.io a@.b a@b..c a@b.io,c@d.io
    "a"@b.io ${'a'.repeat(emailCharactersMax - 4)}@b.io
  `),
    '',
    'a b@c.io',
    'a@b c.io',
    'Ada <a@b.io>',
    'a\n@b.io',
  ])('%j is refused', (text) => {
    expect(toEmail(text)).toBeUndefined();
  });
});

describe('an expiry', () => {
  test.each(['90days', '', '90', 'd', '90 d', '-1d', '1.5d', 'soon', '999999d'])('%j is refused', (text) => {
    expect(parseExpiry(text, nowMs)).toEqual({
      ok: false,
      problems: [expect.stringMatching(/is not a number of days/)],
    });
  });

  test.each([
    ['0d', /not in the future/],
    ['2026-06-15', /not in the future/],
    ['2026-06-15T12:00:00Z', /not in the future/],
    ['3651d', /more than 3650 days away/],
    ['2099-01-01', /more than 3650 days away/],
  ])('%j is refused: %s', (text, problem) => {
    expect(parseExpiry(text, nowMs)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  });

  test.each([
    ['never', null],
    ['90d', nowMs + 90 * dayMs],
    ['3650d', nowMs + 3650 * dayMs],
    ['2026-12-31', Date.parse('2026-12-31')],
    ['2026-06-15T12:00:00.001Z', nowMs + 1],
  ])('%j is %d', (text, time) => {
    expect(parseExpiry(text, nowMs)).toEqual({ ok: true, value: time });
  });
});
