import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  generateKey,
  hashKey,
  KEY_TYPES,
  keyStatus,
  parseKeyType,
  SCOPES,
  VENDOR_PATTERN,
  visibleEnds,
} from '../../../src/domain/keys/api-key.js';

const key = fc
  .record({
    type: fc.constantFrom(...KEY_TYPES),
    vendor: fc.stringMatching(/^[a-z][a-z0-9]{1,15}$/),
    seed: fc.infiniteStream(fc.nat(61)),
  })
  .map(({ type, vendor, seed }) => ({
    type,
    vendor,
    text: generateKey(vendor, type, () => Number(seed.next().value)),
  }));

describe('a key', () => {
  test.each([
    '',
    'cs',
    'cs_admin_',
    `cs_admin_${'A'.repeat(49)}`,
    `cs_owner_${'A'.repeat(49)}`,
    'Bearer x',
    'x'.repeat(100),
  ])('%j is malformed', (text) => {
    expect(parseKeyType(text)).toBeUndefined();
  });

  test('with one character changed, added or lost, or two swapped, is malformed', () => {
    fc.assert(
      fc.property(key, fc.nat(), fc.stringMatching(/^[!-~]$/), ({ text }, position, character) => {
        const at = position % text.length;
        const changed = text.slice(0, at) + character + text.slice(at + 1);
        fc.pre(changed !== text);
        expect(parseKeyType(changed)).toBeUndefined();
        expect(parseKeyType(text.slice(0, at) + text.slice(at + 1))).toBeUndefined();
        expect(parseKeyType(text.slice(0, at) + character + text.slice(at))).toBeUndefined();
        const swapped = text.slice(0, at) + (text[at + 1] ?? '') + text[at] + text.slice(at + 2);
        if (swapped !== text) expect(parseKeyType(swapped)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  test('has vendor, type and 49 characters, and is parsed to its type', () => {
    fc.assert(
      fc.property(key, ({ type, vendor, text }) => {
        expect(text).toMatch(new RegExp(`^${vendor}_${type}_[0-9A-Za-z]{49}$`));
        expect(parseKeyType(text)).toBe(type);
      }),
    );
  });

  test('ends with a CRC-32 that equals another implementation', () => {
    expect(generateKey('cs', 'admin', () => 0)).toBe(`cs_admin_${'0'.repeat(43)}3BuAN4`);
  });

  test('shows its vendor, type and four characters at each end', () => {
    fc.assert(
      fc.property(key, ({ type, vendor, text }) => {
        const { start, end } = visibleEnds(text);
        expect(start).toBe(`${vendor}_${type}_${text.slice(-49, -45)}`);
        expect(end).toBe(text.slice(-4));
        // The hidden part has 39 random characters (232 bits) and two of the checksum.
        expect(text.length - start.length - end.length).toBe(41);
      }),
    );
  });

  test('has a visible start that does not depend on its hidden part', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(61), { minLength: 39, maxLength: 39 }), fc.nat(61), (hidden, shown) => {
        const made = (rest: readonly number[]) => {
          const digits = [...Array<number>(4).fill(shown), ...rest].values();
          return generateKey('cs', 'admin', () => Number(digits.next().value));
        };
        expect(visibleEnds(made(hidden)).start).toBe(visibleEnds(made(hidden.toReversed())).start);
      }),
    );
  });

  test('is stored as its SHA-256', () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('the status of a key', () => {
  test.each([
    [{}, 'active'],
    [{ expiresAt: 1001 }, 'active'],
    [{ expiresAt: 1000 }, 'expired'],
    [{ expiresAt: 1001, disabledAt: 900 }, 'disabled'],
    [{ expiresAt: 1000, disabledAt: 900 }, 'expired'],
    [{ expiresAt: 1000, revokedAt: 900 }, 'revoked'],
    [{ revokedAt: 1000 }, 'revoked'],
    [{ revokedAt: 1000, disabledAt: 900 }, 'revoked'],
  ] as const)('%j at 1000 is %s', (times, status) => {
    expect(keyStatus({ expiresAt: null, revokedAt: null, disabledAt: null, ...times }, 1000)).toBe(status);
  });
});

test.each([
  ['cs', true],
  ['a1234567890bcdef', true],
  ['a1234567890bcdefg', false],
  ['c', false],
  ['1a', false],
  ['Cs', false],
  ['c-s', false],
  ['', false],
])('the vendor prefix %j is valid: %s', (vendor, isValid) => {
  expect(new RegExp(VENDOR_PATTERN).test(vendor)).toBe(isValid);
});

test('names in databases and responses do not change', () => {
  expect(KEY_TYPES).toEqual(['admin', 'recording', 'reading']);
  expect(SCOPES).toEqual(['read', 'write']);
});
