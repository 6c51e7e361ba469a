/**
 * `npx tsx scripts/zones.ts` writes `src/domain/time/zone-data.ts` from the newest `tzdata` of the Python Package Index, which has the
 * files that the database's own compiler makes. `npx tsx scripts/zones.ts /usr/share/zoneinfo` takes the files of a folder.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readTzif, type ZoneRules } from './zones/tzif.js';
import { readZoneVersion } from './zones/versions.js';

const output = fileURLToPath(new URL('../src/domain/time/zone-data.ts', import.meta.url));

const [folder] = process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), 'zones-'));
try {
  writeFileSync(output, createModule(folder ?? installFromPython(temporary)));
} finally {
  rmSync(temporary, { recursive: true });
}

function installFromPython(target: string): string {
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', target, 'tzdata'];
  execFileSync('python3', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return join(target, 'tzdata', 'zoneinfo');
}

function createModule(zoneinfo: string): string {
  const version = readZoneVersion(zoneinfo);
  if (version === undefined) throw new Error(`${zoneinfo} has no file that says the version of its data`);
  const lines = listZones(zoneinfo);
  process.stdout.write(`${version}: ${lines.length} zones\n`);
  return `/**
 * The IANA time zone database, which is in the public domain. \`npx tsx scripts/zones.ts\` writes this file.
 *
 * A line for each zone has four parts:
 * - its names: first those that users select, which are in the table of zones by country, and after \`;\` its other names;
 * - offsets from UTC in seconds: first the earliest, then all others;
 * - each change: which of the offsets it brings, as a digit to the base of 36, and when, in seconds to that base since the
 *   change before it (the first: since 1970);
 * - what then happens each year: offset, month, week of the month (5 is the last), day of the week (0 is Sunday), and seconds
 *   since that midnight by the clock before the change.
 */

/** The release of the database. */
export const ZONE_DATA_VERSION = '${version}';

export const ZONE_LINES = \`
${lines.join('\n')}
\`;
`;
}

/** One line for all names with the same rules. */
function listZones(zoneinfo: string): string[] {
  const selectable = new Set(['UTC', ...readTable(zoneinfo)]);
  const namesByRules = new Map<string, string[]>();
  for (const name of readNames(zoneinfo)) {
    const rules = writeRules(readTzif(readFileSync(join(zoneinfo, name))));
    namesByRules.set(rules, [...(namesByRules.get(rules) ?? []), name]);
  }
  return [...namesByRules]
    .map(([rules, names]) => {
      const others = names.filter((name) => !selectable.has(name));
      const first = names.filter((name) => selectable.has(name));
      return `${first.join(' ')};${others.join(' ')}|${rules}`;
    })
    .toSorted();
}

/** The names in the table of zones by country. */
function readTable(zoneinfo: string): string[] {
  return readFileSync(join(zoneinfo, 'zone.tab'), 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('#') ? [] : (line.split('\t')[2] ?? [])));
}

/** All names of zones and links. `Factory` stands for an unknown zone. */
function readNames(zoneinfo: string): string[] {
  return readFileSync(join(zoneinfo, 'tzdata.zi'), 'utf8')
    .split('\n')
    .flatMap((line) => /^(?:Z (\S+)|L \S+ (\S+))/.exec(line)?.slice(1) ?? [])
    .filter((name) => name !== undefined && name !== 'Factory')
    .toSorted();
}

function writeRules({ firstOffset, transitions, yearly }: ZoneRules): string {
  const offsets = [...new Set([firstOffset, ...transitions.map(({ offset }) => offset)])];
  const changes = transitions.map(({ time, offset }, at) => {
    const index = offsets.indexOf(offset).toString(36);
    if (index.length > 1) throw new Error('a zone has more than 36 offsets');
    return `${index}${(time - (transitions[at - 1]?.time ?? 0)).toString(36)}`;
  });
  const rules = yearly.map((change) =>
    [change.offset, change.month, change.week, change.weekday, change.time].join(' '),
  );
  return [offsets.join(' '), changes.join(' '), rules.join(',')].join('|');
}
