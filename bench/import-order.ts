/**
 * Importing files whose lines or ids are in no order, compared with a file in order of time whose ids are in order too. Real
 * exports are often unsorted, and most ids are random.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Event, makeEvents, randomFrom, writeNdjson } from './support/events.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import type { Workspace } from './support/workspace.js';

export interface ImportOrderOptions {
  readonly rounds: number;
  readonly lines: number;
  readonly note: (line: string) => void;
}

const probe = fileURLToPath(new URL('./support/written-probe.mjs', import.meta.url));

const FILES: Readonly<Record<string, (events: readonly Event[]) => readonly Event[]>> = {
  sorted: (events) => events,
  'sorted by time, random ids': withRandomIds,
  'random order, random ids': (events) => shuffled(withRandomIds(events)),
};

const aims: Readonly<Record<string, number>> = {
  'sorted by time, random ids': 1.3,
  'random order, random ids': 1.5,
};
const aimBytes = 600;

interface Taken {
  readonly seconds: number;
  /** Bytes written per line; NaN except on Linux. */
  readonly bytes: number;
}

export async function benchImportOrder(workspace: Workspace, options: ImportOrderOptions): Promise<Report> {
  const { rounds, lines, note } = options;
  note(`import-order: writing ${lines} lines`);
  const events = [...makeEvents(lines, 1)];
  const names = Object.keys(FILES);
  for (const name of names) await writeNdjson(fileOf(workspace, name), FILES[name]?.(events) ?? []);
  const taken = new Map<string, Taken[]>(names.map((name) => [name, []]));
  // Round 0 reads the files once and recounts every counter. It is not measured.
  for (let round = 0; round <= rounds; round++) {
    note(`import-order: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const database = await Database.create(workspace, 'import-order');
      const one = await importInto(database, workspace, fileOf(workspace, name), lines);
      if (round > 0) taken.get(name)?.push(one);
      else await database.verify();
      rmSync(database.folder, { recursive: true });
    }
  }
  return {
    name: 'import-order',
    method:
      `\`caller-stats import\` of ${lines.toLocaleString('en-US')} NDJSON lines into an empty database, from the start of the process to its exit, ` +
      'alternating: in order of time with ids in that order (UUIDv7), with random ids (UUIDv4), and with the lines in ' +
      'random order as well. The bytes are all that the process writes to files, including the log.',
    ratios: toRatios(taken),
    absolutes: [...taken].flatMap(([name, all]): Figure[] => [
      { what: name, unit: 's', values: all.map(({ seconds }) => seconds) },
      {
        what: `${name}: written`,
        unit: 'bytes/line',
        values: all.map(({ bytes }) => bytes),
        ...(name in aims && { atMost: aimBytes }),
      },
    ]),
  };
}

function toRatios(taken: ReadonlyMap<string, readonly Taken[]>): Figure[] {
  const sorted = taken.get('sorted') ?? [];
  return Object.entries(aims).map(([name, atMost]) => ({
    what: `time of an import, ${name}, over sorted`,
    values: (taken.get(name) ?? []).map(
      ({ seconds }, round) => seconds / (sorted[round]?.seconds ?? Number.NaN),
    ),
    atMost,
  }));
}

async function importInto(
  database: Database,
  workspace: Workspace,
  file: string,
  lines: number,
): Promise<Taken> {
  const written = workspace.path('written.json');
  rmSync(written, { force: true });
  const { seconds } = await database.importWith(['--import', probe], file);
  const bytes = existsSync(written) ? Number(readFileSync(written, 'utf8')) / lines : Number.NaN;
  const { total } = JSON.parse(await database.command('stats', projectId, '--json')) as { total: number };
  if (total !== lines) throw new Error(`of ${lines} lines, ${total} are counted`);
  return { seconds, bytes };
}

function fileOf(workspace: Workspace, name: string): string {
  return workspace.path(`${name.replaceAll(/\W+/g, '-')}.ndjson`);
}

function withRandomIds(events: readonly Event[]): Event[] {
  return events.map((event) => ({ ...event, id: randomUUID() }));
}

/** Fisher and Yates. */
function shuffled(events: readonly Event[]): Event[] {
  const random = randomFrom(2);
  const all = [...events];
  for (let last = all.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [all[last], all[other]] = [all[other] as Event, all[last] as Event];
  }
  return all;
}
