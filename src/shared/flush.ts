/** Makes files and names durable: they survive a power failure. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Makes the contents of a file durable. */
export function flush(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Makes the names in a folder durable. Does nothing where that is not possible, such as on Windows. */
export function flushFolder(folder: string): void {
  try {
    flush(folder);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!IMPOSSIBLE.has(code)) throw error;
  }
}

const IMPOSSIBLE = new Set(['EACCES', 'EINVAL', 'EISDIR', 'ENOTSUP', 'EPERM']);

/** Creates a folder that only its owner can use, and its parents, durably. Does nothing if it exists. */
export function makeFolder(folder: string): void {
  let made = resolve(folder);
  const first = mkdirSync(made, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (; made.length >= first.length; made = dirname(made)) flushFolder(dirname(made));
}
