import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const executableFile = fileURLToPath(new URL('../../../dist-binary/caller-stats', import.meta.url));

/** Makes the executable of what `build.ts` has built. */
export function setup(): void {
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/binary.ts'], { stdio: 'inherit' });
}
