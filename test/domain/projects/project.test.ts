import { expect, test } from 'vitest';
import { isProjectId } from '../../../src/domain/projects/project.js';

test.each(['', 'a b', '-a', '_a', 'a/b', 'ä', 'a'.repeat(65), 'a\n'])('%j is not a project id', (id) => {
  expect(isProjectId(id)).toBe(false);
});

test.each(['a', 'A-1_b', 'a'.repeat(64)])('%j is a project id', (id) => {
  expect(isProjectId(id)).toBe(true);
});
