/** The program's own signatures: of cookies, tickets and tokens. `test/program/sign-in/secrets.test.ts` has those of the library. */
import { expect, test } from 'vitest';
import { Secrets } from '../../src/auth/secrets.js';

const [old, newer, stored] = ['o'.repeat(32), 'n'.repeat(32), 's'.repeat(32)];

test('a signature is worth nothing for another purpose or text, with another secret, or with one that only decrypts', () => {
  const signature = new Secrets([old]).sign('tickets', 'a text');
  const ofBoth = new Secrets([newer, old]);
  expect(ofBoth.verify('devices', 'a text', signature)).toBe(false);
  expect(ofBoth.verify('tickets', 'another text', signature)).toBe(false);
  for (const wrong of ['', signature.slice(1), `${signature}A`])
    expect(ofBoth.verify('tickets', 'a text', wrong)).toBe(false);
  expect(new Secrets([newer]).verify('tickets', 'a text', signature)).toBe(false);
  const copied = new Secrets([stored]).sign('tickets', 'a text');
  expect(new Secrets([newer], stored).verify('tickets', 'a text', copied)).toBe(false);
});

test('a new secret signs from then on, and the old one still verifies', () => {
  const ofBoth = new Secrets([newer, old]);
  for (const secret of [old, newer])
    expect(ofBoth.verify('tickets', 'a text', new Secrets([secret]).sign('tickets', 'a text'))).toBe(true);
  expect(ofBoth.sign('tickets', 'a text')).toBe(new Secrets([newer]).sign('tickets', 'a text'));
});
