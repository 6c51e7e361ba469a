import { execFileSync } from 'node:child_process';

/**
 * The seed of all random input in a clean checkout: it comes from the content, so that a run that passed passes again, wherever
 * these files are, and each commit tries other input. Undefined beside changes that are not committed, and without git.
 */
export function seedOfContent(): number | undefined {
  try {
    if (git('status', '--porcelain') !== '') return undefined;
    return Number.parseInt(git('rev-parse', 'HEAD^{tree}').slice(0, 8), 16) % 2 ** 31;
  } catch {
    return undefined;
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}
