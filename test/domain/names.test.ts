import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLongerThan, isName } from '../../src/domain/names.js';

test.each(['', '  ', 'a\nb', 'x'.repeat(101), '\ud800', '\u200b', ' \u00ad\u2060 ', '\u3164', '\u2800'])(
  '%j is not a name',
  (name) => {
    expect(isName(name)).toBe(false);
  },
);

test.each([
  '\u061c',
  '\u200e',
  '\u200f',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u009b',
  '\u007f',
])('a name with %j, which changes the text around it, is none', (character) => {
  expect(isName(`Docs${character}gpj`)).toBe(false);
});

test.each(['😀'.repeat(100), 'Docs', 'Доки 📚', 'a\u200bb', '👩\u200d💻', 'x'.repeat(100)])(
  '%j is a name',
  (name) => {
    expect(isName(name)).toBe(true);
  },
);

test('a text is as long as it has code points', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'ü', '😀', '\ud800'), maxLength: 12 });
  fc.assert(
    fc.property(text, fc.nat(12), (some, max) => {
      expect(isLongerThan(some, max)).toBe(Array.from(some).length > max);
    }),
  );
});
