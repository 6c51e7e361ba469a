/** Processor time of processes from Linux's /proc; undefined elsewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux reports hundredths of a second (`man 5 proc`, `USER_HZ`). */
const ticksPerSecond = 100;

/** Seconds used by all threads of a process. */
export function readCpuSeconds(pid: number): number | undefined {
  const fields = readStat(pid);
  return fields === undefined ? undefined : ticks(fields, 11, 12);
}

/** Seconds used by a process and its children, including those that have ended. */
export function cpuSecondsOfFamily(pid: number): number | undefined {
  const parent = readStat(pid);
  if (parent === undefined) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readStat(Number(name)))
    .filter((fields) => Number(fields?.[1]) === pid);
  return [parent, ...children].reduce((sum, fields) => sum + ticks(fields ?? [], 11, 12, 13, 14), 0);
}

/** The fields of /proc/PID/stat from the third on. The second, the program's name, may contain spaces. */
function readStat(pid: number): string[] | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  try {
    const stat = readFileSync(file, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // The process ended in between.
    return undefined;
  }
}

function ticks(fields: readonly string[], ...places: readonly number[]): number {
  return places.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) / ticksPerSecond;
}
