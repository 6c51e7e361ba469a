import { expect, test } from 'vitest';
import { lastOwnerError, ROLES, roleAllows } from '../../../src/domain/people/member.js';

test('each role has the rights of the roles after it, and no others', () => {
  expect(ROLES.map((role) => ROLES.filter((needed) => roleAllows(role, needed)))).toEqual(
    ROLES.map((_, at) => ROLES.slice(at)),
  );
  expect(lastOwnerError('a@b.io')).toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^a@b\.io /),
  });
});

test('names in databases and responses do not change', () => {
  expect(ROLES).toEqual(['owner', 'editor', 'viewer']);
});
