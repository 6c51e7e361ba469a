/**
 * `npm run --silent sbom > sbom.json` prints a CycloneDX SBOM of the installed server: its packages in the versions of
 * the lock file, without development dependencies. `npm sbom --omit=dev` alone omits packages that a development tool
 * uses as well, so it runs on a copy without those.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'caller-stats-sbom-'));
try {
  // npm names the root after its folder.
  const folder = join(temporary, 'caller-stats');
  mkdirSync(folder);
  const { devDependencies, workspaces, scripts, ...rest } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify(rest));
  cpSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'));
  const npm = (...args: string[]): string =>
    execFileSync('npm', [...args, '--package-lock-only'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 100_000_000,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  npm('install', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
  process.stdout.write(npm('sbom', '--sbom-format=cyclonedx', '--loglevel=error'));
} finally {
  rmSync(temporary, { recursive: true });
}
