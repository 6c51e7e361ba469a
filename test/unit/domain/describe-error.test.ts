import { expect, test } from 'vitest';
import { CallerStatsError, describeError } from '../../../src/domain/errors.js';

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'It failed: the disk is full.'],
  ['what is no error', 'ENOSPC', 'It failed: the disk is full.'],
  ['an error', new Error('ENOSPC'), 'It failed: the disk is full. (ENOSPC)'],
  ['what the message says', new Error('the disk is full'), 'It failed: the disk is full.'],
  [
    'several errors',
    new AggregateError([new Error('::1'), new Error('127.0.0.1')]),
    'It failed: the disk is full. (Error: ::1; Error: 127.0.0.1)',
  ],
])('%s behind an error', (_what, cause, line) => {
  const error = new CallerStatsError('invalid', 'It failed: the disk is full.', { cause, details: ['one'] });
  expect(describeError(error)).toEqual([line, '  one']);
});
