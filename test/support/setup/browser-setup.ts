import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type Chromium, findChromium } from '../browser/chromium.js';

declare module 'vitest' {
  export interface ProvidedContext {
    chromium: Chromium;
  }
}

/** Finds a browser before the tests. Afterwards, removes what was unpacked for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-chromium-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    project.provide('chromium', await findChromium(folder, process.env, { forTests: true }));
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}
