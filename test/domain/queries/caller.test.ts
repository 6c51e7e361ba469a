import { expect, test } from 'vitest';
import { callerType, isCallerName } from '../../../src/domain/queries/caller.js';

test.each([
  ['web', 'web'],
  ['api', 'api'],
  ['slack', 'other'],
  ['web2', 'other'],
  ['apis', 'other'],
  ['other', 'other'],
])('the caller %s is of type %s', (caller, type) => {
  expect(isCallerName(caller)).toBe(true);
  expect(callerType(caller)).toBe(type);
});
