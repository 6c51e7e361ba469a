import { expect, test } from 'vitest';
import { isConflict, isDamage, storeError } from '../../../src/storage/sqlite/errors.js';

const withCode = (errcode: number) =>
  Object.assign(new Error('words'), { code: 'ERR_SQLITE_ERROR', errcode });
const withWords = (message: string) => Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' });

test.each([
  ['busy', withCode(5)],
  ['full', withCode(13)],
  ['an extended code of input or output', withCode(10 | (4 << 8))],
  ['full, in words only', withWords('database or disk is full')],
  ['read-only, in words only', withWords('attempt to write a readonly database')],
])('%s is unavailable', (_what, error) => {
  expect(storeError(error)).toMatchObject({ code: 'unavailable', cause: error });
  expect(isDamage(error)).toBe(false);
});

test.each([
  ['a constraint', withCode(19)],
  ['an error of other origin that uses the words', new Error('database or disk is full')],
  [
    'an error of another code that uses the words',
    Object.assign(new Error('database or disk is full'), { code: 'ENOSPC' }),
  ],
  ['no error at all', 'database or disk is full'],
])('%s is passed on', (_what, error) => {
  expect(storeError(error)).toBe(error);
});

test.each([withCode(11), withCode(26), withWords('file is not a database')])(
  'recognizes damage: %s',
  (error) => {
    expect(isDamage(error)).toBe(true);
    expect(storeError(error)).toMatchObject({
      message: expect.stringMatching(/damaged.*verify/),
      cause: error,
    });
    expect(storeError(error)).not.toHaveProperty('code');
  },
);

test.each([
  ['by its code', withCode(19), true],
  ['by an extended code', withCode(19 | (8 << 8)), true],
  ['by its words', withWords('UNIQUE constraint failed: query.project, query.id'), true],
  ['and another code is none', withCode(13), false],
  ['and other words are none', withWords('database or disk is full'), false],
  ['and the words of another origin are none', new Error('UNIQUE constraint failed'), false],
])('recognizes a conflict %s', (_what, error, expected) => {
  expect(isConflict(error)).toBe(expected);
});
