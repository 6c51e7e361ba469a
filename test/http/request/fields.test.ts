import { expect, test } from 'vitest';
import { newPassword } from '../../../src/http/request/fields.js';

test.each([
  ['😀🐢🌵🚲🧀🎈', /fewer than 12 characters/],
  ['e\u0301'.repeat(5), /fewer than 12 characters/],
  ['elevenchars', /fewer than 12 characters/],
  ['x'.repeat(129), /more than 128 characters/],
])('a new password is refused: %s', (password, problem) => {
  expect(newPassword(password)).toMatchObject({ ok: false, problems: [expect.stringMatching(problem)] });
});

test.each([
  'twelve chars',
  '😀🐢🌵🚲🧀🎈🍕🚀🎲🦊🌈🔑',
  'x'.repeat(128),
  ' cafe\u0301 \uff21u lait ',
  '😀🐢'.repeat(32),
])('a new password has at least 12 characters, and stays as it is: %s', (password) => {
  expect(newPassword(password)).toEqual({ ok: true, value: password });
});
