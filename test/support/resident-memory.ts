import { existsSync, readFileSync } from 'node:fs';

/** Bytes of memory that a process has now; undefined where the system does not say (only Linux does). */
export function residentBytesOf(pid: number | undefined): number | undefined {
  return bytesOf(pid, 'VmRSS');
}

/** The same of the moment at which it had most. */
export function highestResidentBytesOf(pid: number | undefined): number | undefined {
  return bytesOf(pid, 'VmHWM');
}

/** The bytes of memory that the page about limits promises a server takes less than. */
export function promisedBytesMax(): number {
  const page = readFileSync(new URL('../../docs/reference/limits.md', import.meta.url), 'utf8');
  const megabytes = /takes less than (\d+) MB/.exec(page)?.[1];
  if (megabytes === undefined) throw new Error('limits.md does not say how much memory a server takes');
  return Number(megabytes) * 1e6;
}

function bytesOf(pid: number | undefined, name: string): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
