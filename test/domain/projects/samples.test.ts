import { describe, expect, test } from 'vitest';
import { isSampleProject, SAMPLE_PROJECTS } from '../../../src/domain/projects/samples.js';

describe('sample data', () => {
  test.each(Object.values(SAMPLE_PROJECTS))('is in the project %o', (project) => {
    expect(isSampleProject(project)).toBe(true);
  });

  test.each([
    { id: 'demo', name: 'Demo' },
    { id: 'assistant-demo', name: 'Assistant demo' },
    { id: 'sample-events', name: 'Sample events' },
  ])('is not in %o, which users created', (project) => {
    expect(isSampleProject(project)).toBe(false);
  });
});
