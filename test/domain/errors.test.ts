import { expect, test } from 'vitest';
import { CallerStatsError, describeError } from '../../src/domain/errors.js';

test.each<[string, unknown, string]>([
  ['no cause', undefined, 'It failed: the disk is full.'],
  ['a cause that is not an error', 'ENOSPC', 'It failed: the disk is full.'],
  ['an error as cause', new Error('ENOSPC'), 'It failed: the disk is full. (ENOSPC)'],
  ['a cause with the same message', new Error('the disk is full'), 'It failed: the disk is full.'],
  [
    'several errors as cause',
    new AggregateError([new Error('::1'), new Error('127.0.0.1')]),
    'It failed: the disk is full. (Error: ::1; Error: 127.0.0.1)',
  ],
])('an error is described with %s', (_what, cause, line) => {
  const error = new CallerStatsError('invalid', 'It failed: the disk is full.', { cause, details: ['one'] });
  expect(describeError(error)).toEqual([line, '  one']);
});
