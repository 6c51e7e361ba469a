import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { requireGoodPassword } from '../../../src/auth/passwords/password-rules.js';

const owner = { email: 'ada.lovelace@analytical.example', name: 'Ada Byron' };

async function problemOf(password: string): Promise<string> {
  const error = await requireGoodPassword(password, { owner, field: 'newPassword' }).catch(
    (refused) => refused,
  );
  if (error === undefined) return '';
  expect(error).toMatchObject({ code: 'invalid', details: [expect.stringMatching(/^newPassword: /)] });
  return error.details[0];
}

describe('a password is refused', () => {
  test.each([
    [' '.repeat(12), /only blanks/],
    ['\u3000\t\n '.repeat(4), /only blanks/],
    ['aaaaaaaaaaaa', /repeats/],
    ['ababababababab', /repeats/],
    ['abcabcabcabcab', /repeats/],
    ['123412341234', /repeats/],
    ['letmein letmein', /repeats/],
    ['let-me-in! Let.me.in', /repeats/],
    ['Passw0rdPassw0rdPassw0rd', /many people use|repeats/],
    ['ada.lovelace@analytical.example', /your address/],
    ['ADA.Lovelace@Analytical.Example1', /your address/],
    ['lovelace-12345', /your address/],
    ['Ada Byron 2026!', /your name/],
    ['byron-1815-ab', /your name/],
    ['caller-stats-2026', /this program/],
    ['CallerStats1234!', /this program/],
    ['caller-stats-2026!!!!', /this program/],
    ['password1234', /many people use/],
    ['Password12345!', /many people use/],
    ['P@ssw0rd2026!', /many people use/],
    ['pass word 1234', /many people use/],
    ['qwertyuiop123456', /many people use/],
    ['2026sunshine2026', /many people use/],
    ['trustno1trustno1', /many people use|repeats/],
    ['abcdefghijkl', /sequence|many/],
    ['zyxwvutsrqpo', /sequence|many/],
    ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', /sequence|many/],
    ['acegikmoqsuw', /sequence/],
    ['bcdefg234567', /sequence|many/],
    ['890123456789', /sequence|many/],
    ['a1b2c3d4e5f6', /sequence/],
    ['abc123def456', /sequence/],
    ['qwe123asd456', /sequence|many/],
    ['aabbccddeeff', /sequence/],
    ['a b c d e f g h', /sequence/],
    ['йцукенгшщзхъ', /sequence/],
    ['asdfghjklzxcv', /sequence|many/],
    ['poiuytrewqlk', /sequence|many/],
    ['\u03b1\u03b2\u03b3\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba\u03bb\u03bc', /sequence/],
  ])('%j', async (password, message) => {
    expect(await problemOf(password)).toMatch(message);
  });
});

test.each([
  'a long enough passphrase',
  'another long passphrase',
  'correct horse battery staple',
  'lovelace wrote the first program',
  'Xk3#9vLq!mZ2',
  '12345678 is my first cat',
  'sunshine over seven mountains',
  'ünïcödé wörds ärë fïnë',
  '#%&/()=?+*<>',
  '🦊🎷🌵🚲🍋🧭🪁🎲🏔🐙🧦🛶',
])('%j is accepted', async (password) => {
  expect(await problemOf(password)).toBe('');
});

test('random characters are accepted', async () => {
  const characters = fc.constantFrom(...'bcdfghjkmnpqrstvwxyzBCDFGHJKMNPQRSTVWXYZ2689');
  await fc.assert(
    fc.asyncProperty(fc.array(characters, { minLength: 24, maxLength: 64 }), async (chosen) => {
      fc.pre(new Set(chosen.join('').toLowerCase()).size > 10);
      expect(await problemOf(chosen.join(''))).toBe('');
    }),
  );
});
