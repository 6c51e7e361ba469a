import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes the contents of a file, or the names in a folder, durable. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
