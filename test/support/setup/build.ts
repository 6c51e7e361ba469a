import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Other programs that tests start, and the packages that contain them. */
const TOOLS = { bash: 'bash', curl: 'curl', ps: 'procps', script: 'util-linux (Debian: bsdutils)' } as const;

/** Builds the program, so that tests do not start an old one. */
export default function build(): void {
  const missing = Object.entries(TOOLS).filter(([name]) => !isOnPath(name));
  if (missing.length > 0) {
    const list = missing.map(([name, origin]) => `${name}, of the package ${origin}`).join('; ');
    throw new Error(
      `The tests need programs that this machine lacks: ${list}. Install them and run the tests again.`,
    );
  }
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/build-changed.ts'], { stdio: 'inherit' });
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
