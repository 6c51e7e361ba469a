import { expect, test } from 'vitest';
import { readerProjectsMax } from '../../../src/domain/limits.js';
import {
  describeRights,
  lastOwnerError,
  mayRead,
  parseRights,
  ROLES,
  roleAllows,
} from '../../../src/domain/people/member.js';

test('each role has the rights of the roles after it, and no others', () => {
  expect(ROLES.map((role) => ROLES.filter((needed) => roleAllows(role, needed)))).toEqual(
    ROLES.map((_, at) => ROLES.slice(at)),
  );
  expect(lastOwnerError('a@b.io')).toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^a@b\.io /),
  });
});

test('readers have projects, each once, and nobody else has any', () => {
  for (const [role, projects] of [
    ['reader', []],
    ['reader', undefined],
    ['viewer', ['docs']],
    ['owner', ['docs']],
    ['reader', ['']],
    ['reader', ['docs', 'no,id']],
    ['reader', ['a\0']],
    ['reader', Array.from({ length: readerProjectsMax + 1 }, (_, at) => `p${at}`)],
  ] as const)
    expect(parseRights(role, projects)).toMatchObject({ ok: false, problems: [expect.any(String)] });
  const rights = { role: 'reader', projects: ['a', 'b'] } as const;
  expect(parseRights('reader', ['b', 'a', 'b'])).toEqual({ ok: true, value: rights });
  expect(['a', 'b', 'c', '', 'a,b'].filter((id) => mayRead(rights, id))).toEqual(['a', 'b']);
  expect(mayRead({ role: 'viewer', projects: [] }, 'c')).toBe(true);
  expect([describeRights(rights), describeRights({ role: 'reader', projects: [] })]).toEqual([
    'reader of a, b',
    'reader of no project',
  ]);
});

test('names in databases and responses do not change', () => {
  expect(ROLES).toEqual(['owner', 'editor', 'viewer', 'reader']);
});
