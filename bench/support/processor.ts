/** Processor time of processes, from Linux's /proc. Undefined wherever there is none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever its own clock does (`man 5 proc`, `USER_HZ`). */
const ticksPerSecond = 100;

/** Seconds that a process has used, all of its threads. */
export function cpuSecondsOf(pid: number): number | undefined {
  const fields = statOf(pid);
  return fields === undefined ? undefined : ticks(fields, 11, 12);
}

/** The same of a process and its children, those that have ended included. */
export function cpuSecondsOfFamily(pid: number): number | undefined {
  const parent = statOf(pid);
  if (parent === undefined) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((fields) => Number(fields?.[1]) === pid);
  return [parent, ...children].reduce((sum, fields) => sum + ticks(fields ?? [], 11, 12, 13, 14), 0);
}

/** The fields of /proc/PID/stat from the third on. The second, the program's name, may hold spaces. */
function statOf(pid: number): string[] | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  try {
    const stat = readFileSync(file, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It ended between the two.
    return undefined;
  }
}

function ticks(fields: readonly string[], ...places: readonly number[]): number {
  return places.reduce((sum, place) => sum + Number(fields[place] ?? 0), 0) / ticksPerSecond;
}
