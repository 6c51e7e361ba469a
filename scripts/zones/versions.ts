/** The releases of the time zone database: ours, and that of the machine. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where Linux and macOS have it. */
export const machineZones = '/usr/share/zoneinfo';

/** The release of the database in a folder, such as `2026f`; undefined if the folder does not say. */
export function readZoneVersion(zoneinfo: string): string | undefined {
  // Only macOS has the second file.
  const file = ['tzdata.zi', '+VERSION'].map((name) => join(zoneinfo, name)).find((path) => existsSync(path));
  return file === undefined ? undefined : /\b\d{4}[a-z]+\b/.exec(readFileSync(file, 'utf8'))?.[0];
}

/** A sentence if the machine has newer data. */
export function findNewerZones(ours: string, ofMachine: string | undefined): readonly string[] {
  // A year and letters, which go on with `za` after `z`.
  if (ofMachine === undefined || ofMachine <= ours) return [];
  return [`time zone data ${ours}: this machine has ${ofMachine}. Run: npx tsx scripts/zones.ts`];
}
