import { expect, test } from 'vitest';
import { generateId, isName, isProjectId } from '../../../src/domain/projects/project.js';

test.each(['', 'a b', '-a', '_a', 'a/b', 'ä', 'a'.repeat(65), 'a\n'])('%j is not a project id', (id) => {
  expect(isProjectId(id)).toBe(false);
});

test.each(['a', 'A-1_b', 'a'.repeat(64)])('%j is a project id', (id) => {
  expect(isProjectId(id)).toBe(true);
});

test('a new id is a project id of 80 bits', () => {
  expect(generateId((max) => max - 1)).toBe('z'.repeat(16));
  expect(isProjectId(generateId(() => 0))).toBe(true);
});

test.each(['', '  ', 'a\nb', 'x'.repeat(101), '\ud800', '\u200b', ' \u00ad\u2060 ', '\u3164', '\u2800'])(
  '%j is not a name',
  (name) => {
    expect(isName(name)).toBe(false);
  },
);

test.each([
  '\u061c',
  '\u200e',
  '\u200f',
  '\u202a',
  '\u202e',
  '\u2066',
  '\u2069',
  '\u2028',
  '\u2029',
  '\u0085',
  '\u009b',
  '\u007f',
])('a name with %j, which changes the text around it, is none', (character) => {
  expect(isName(`Docs${character}gpj`)).toBe(false);
});

test.each(['😀'.repeat(100), 'Docs', 'Доки 📚', 'a\u200bb', '👩\u200d💻', 'x'.repeat(100)])(
  '%j is a name',
  (name) => {
    expect(isName(name)).toBe(true);
  },
);
