import { expect, test } from 'vitest';
import { sortDetails } from '../../../../dashboard/src/components/forms/sort-details.js';

test('the details of an error are assigned to the field they name, if the form has it', () => {
  const { problems, rest } = sortDetails(
    [
      'name: must not be empty',
      'allow[1]: is not a network',
      'The key is gone.',
      'other: is unknown',
      'name: is odd.',
    ],
    ['name', 'allow'],
  );
  expect(Object.fromEntries(problems)).toEqual({
    name: 'Must not be empty. Is odd.',
    allow: 'Is not a network.',
  });
  expect(rest).toEqual(['The key is gone.', 'other: is unknown']);
});
