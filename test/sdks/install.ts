/** Installs the packages of this folder, which are no part of the project's own installation. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../support/cli/cli.js';
import { root } from '../tidy/sources.js';

export const sdksFolder = join(root, 'test/sdks');

/** Installing a gigabyte takes minutes on a small machine. */
export const installTimeoutMs = 900_000;

/** Does nothing if exactly the packages of the lock file are there already. */
export async function installSdks(): Promise<void> {
  if (isInstalled()) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const env = { HOME: process.env['HOME'] ?? '' };
  const outcome = await runCommand('npm', args, { cwd: sdksFolder, env, hangMs: installTimeoutMs });
  if (outcome.status !== 0) throw new Error(`npm ci in ${sdksFolder}: ${outcome.stderr}`);
}

function isInstalled(): boolean {
  const installed = join(sdksFolder, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = packagesIn(join(sdksFolder, 'package-lock.json'));
  const found = packagesIn(installed);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional === true || found[path]?.version === version,
  );
}

type Packages = Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;

function packagesIn(lockFile: string): Packages {
  return (JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Packages }).packages;
}
