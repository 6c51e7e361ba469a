/** Installs the packages that only deep tests need: a folder's own, which are no part of the project's installation. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './cli/cli.js';

/** Installing a gigabyte takes minutes on a small machine. */
export const installTimeoutMs = 900_000;

/** Does nothing if exactly the packages of the folder's lock file are there already. */
export async function installPackages(folder: string): Promise<void> {
  if (isInstalled(folder)) return;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const env = { HOME: process.env['HOME'] ?? '' };
  const outcome = await runCommand('npm', args, { cwd: folder, env, hangMs: installTimeoutMs });
  if (outcome.status !== 0) throw new Error(`npm ci in ${folder}: ${outcome.stderr}`);
}

function isInstalled(folder: string): boolean {
  const installed = join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const wanted = packagesIn(join(folder, 'package-lock.json'));
  const found = packagesIn(installed);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional === true || found[path]?.version === version,
  );
}

type Packages = Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>;

function packagesIn(lockFile: string): Packages {
  return (JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Packages }).packages;
}
