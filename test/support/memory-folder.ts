/** Where tests put their databases: what is in memory need not wait for the disk, hundreds of thousands of times. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Linux has it; a container's is often too small. */
const memoryFolder = '/dev/shm';

/** More than the whole run ever has there at once: three browsers, some database servers with copies of their programs. */
const roomBytes = 4 * 1024 ** 3;

/**
 * A folder in memory for temporary files; undefined where there is none with room, or where programs cannot be started
 * from it. Kills of processes, which tests do, lose nothing there that they would not lose on a disk.
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
