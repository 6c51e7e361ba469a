import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

const CHANGES = ['copyFileSync', 'linkSync', 'renameSync', 'rmSync'] as const;

/**
 * What code does to files meanwhile, in order: `sync NAME`, and changes as `renameSync FROM TO`. A name is the last part of a
 * path; those of new folders with random names are "draft". Removing what is not there is left out.
 */
export function diskCalls(code: () => void): string[] {
  const calls: string[] = [];
  const names = new Map<number, string>();
  const nameOf = (path: fs.PathLike): string => basename(String(path)).replace(/^\.caller-stats-.*/, 'draft');
  const { openSync, fsyncSync, existsSync, copyFileSync, linkSync, renameSync, rmSync } = fs;
  const real = { openSync, fsyncSync, copyFileSync, linkSync, renameSync, rmSync };
  fs.openSync = (path, flags, mode) => {
    const descriptor = real.openSync(path, flags, mode);
    names.set(descriptor, nameOf(path));
    return descriptor;
  };
  fs.fsyncSync = (descriptor) => {
    real.fsyncSync(descriptor);
    calls.push(`sync ${names.get(descriptor)}`);
  };
  for (const call of CHANGES) {
    fs[call] = (from: fs.PathLike, to?: unknown) => {
      const isThere = existsSync(from);
      real[call](from, to as string & fs.RmOptions);
      if (isThere)
        calls.push([call, nameOf(from), ...(typeof to === 'string' ? [nameOf(to)] : [])].join(' '));
    };
  }
  syncBuiltinESMExports();
  try {
    code();
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
  return calls;
}
