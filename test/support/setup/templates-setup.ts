import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    templatesFolder: string;
  }
}

/** Makes the folder for the templates of a run (`../templates.ts`), and removes it after the tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-templates-'));
  project.provide('templatesFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
