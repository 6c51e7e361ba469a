import { existsSync, readFileSync } from 'node:fs';

/** Bytes of memory that a process has now; undefined where the system does not say (only Linux does). */
export function residentBytesOf(pid: number | undefined): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
