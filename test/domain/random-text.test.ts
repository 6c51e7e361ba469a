import { expect, test } from 'vitest';
import { isProjectId } from '../../src/domain/projects/project.js';
import { generateId } from '../../src/domain/random-text.js';

test('a new id is a project id of 80 bits', () => {
  expect(generateId((max) => max - 1)).toBe('z'.repeat(16));
  expect(isProjectId(generateId(() => 0))).toBe(true);
});
