/** Databases of tests are in memory, because they would often wait for the disk. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Only on Linux. It is often too small in containers. */
const memoryFolder = '/dev/shm';

/** More than a run needs there for browsers and database servers. */
const roomBytes = 4 * 1024 ** 3;

/**
 * A folder in memory for temporary files, if there is one with enough room from which programs can be started. Killing a
 * process loses no more data there than on a disk.
 */
export function folderInMemory(): string | undefined {
  let tried: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(memoryFolder);
    if (bavail * bsize < roomBytes) return undefined;
    tried = mkdtempSync(join(memoryFolder, 'caller-stats-try-'));
    const program = join(tried, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    return memoryFolder;
  } catch {
    return undefined;
  } finally {
    if (tried !== undefined) rmSync(tried, { recursive: true, force: true });
  }
}
