import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whenOver } from './cleanup.js';

/** An empty folder, removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-test-'));
  whenOver(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
