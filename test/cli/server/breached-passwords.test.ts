/** The file of breached passwords: what is none, and that the search finds each line and no other. */
import { createHash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { requireGoodPassword } from '../../../src/auth/passwords/password-rules.js';
import { BreachedPasswords } from '../../../src/cli/server/breached-passwords.js';

const folder = mkdtempSync(join(tmpdir(), 'caller-stats-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hashOf = (password: string) => createHash('sha1').update(password).digest('hex').toUpperCase();

let files = 0;

function fileOf(text: string): BreachedPasswords {
  const file = join(folder, `${++files}.txt`);
  writeFileSync(file, text);
  return new BreachedPasswords(file);
}

describe('a file is refused', () => {
  const [first = '', second = ''] = ['a', 'b'].map(hashOf).sort();
  test.each([
    ['that is empty', '', /empty/],
    ['of passwords', 'password\n123456\n', /no SHA-1 of 40 digits at byte 0/],
    ['of other hashes', `${'0'.repeat(32)}:3\n`, /no SHA-1/],
    ['that is not sorted', `${second}:1\n${first}:1\n`, /not sorted/],
    ['with a line without an end', 'A'.repeat(1000), /no SHA-1/],
  ])('%s', async (_what, text, message) => {
    await expect(fileOf(text).check()).rejects.toThrow(message);
  });

  test('that is missing', async () => {
    const missing = new BreachedPasswords(join(folder, 'missing.txt'));
    await expect(missing.check()).rejects.toThrow('ENOENT');
    await expect(missing.has('password')).rejects.toThrow('ENOENT');
  });

  test('in whose middle is something else', async () => {
    await expect(fileOf(`${first}\n${'x'.repeat(1000)}\n${second}\n`).has('c')).rejects.toThrow(
      /too long|no SHA-1/,
    );
  });
});

test('each password of a file is found, and no other', async () => {
  const passwords = fc.uniqueArray(fc.string(), { minLength: 2, maxLength: 60 });
  const form = fc.record({
    count: fc.constantFrom('', ':1', ':52256179'),
    newline: fc.constantFrom('\n', '\r\n'),
    ends: fc.boolean(),
    lowerCase: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(passwords, form, fc.nat(), async (all, { count, newline, ends, lowerCase }, seed) => {
      const [out, ...inside] = [...all.slice(seed % all.length), ...all.slice(0, seed % all.length)];
      const lines = inside.map((password) => `${hashOf(password)}${count}`).sort();
      const text = lines.join(newline) + (ends ? newline : '');
      const breached = fileOf(lowerCase ? text.toLowerCase() : text);
      await breached.check();
      for (const password of inside) expect(await breached.has(password)).toBe(true);
      expect(await breached.has(out ?? '')).toBe(false);
    }),
    { numRuns: 30 },
  );
});

test('a file that is replaced is used from then on', async () => {
  const [file, other] = [join(folder, 'used.txt'), join(folder, 'other.txt')];
  writeFileSync(file, `${hashOf('first')}:1\n`);
  writeFileSync(other, `${hashOf('second')}:1\n`);
  const breached = new BreachedPasswords(file);
  expect([await breached.has('first'), await breached.has('second')]).toEqual([true, false]);
  renameSync(other, file);
  expect([await breached.has('first'), await breached.has('second')]).toEqual([false, true]);
});

test('a breached password is refused like a common one', async () => {
  const known = 'seven mountains over sunshine';
  const use = { owner: { email: 'ada@example.org', name: 'Ada' }, field: 'password' } as const;
  const breached = fileOf(`${hashOf(known)}:7\n`);
  await expect(requireGoodPassword(known, use, breached)).rejects.toMatchObject({
    code: 'invalid',
    details: [expect.stringMatching(/^password: is known from a breach/)],
  });
  await requireGoodPassword(`${known}!`, use, breached);
  await requireGoodPassword(known, use);
});
