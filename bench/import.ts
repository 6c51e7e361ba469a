/**
 * Importing a file of events into an empty database, against SQLite's own tool importing the same rows into a table
 * with the same unique key. Both are timed from the start of the process to its exit. The tool reads CSV that is ready
 * to store, in one transaction; the service reads JSON, validates, keeps counters, and puts every batch on disk.
 */
import { rmSync } from 'node:fs';
import { makeEvents, toCsv, toNdjson, writeEvents } from './support/events.js';
import { sqliteToolVersion } from './support/machine.js';
import type { Report } from './support/report.js';
import { Database } from './support/service.js';
import type { Workspace } from './support/workspace.js';

export interface ImportOptions {
  readonly rounds: number;
  readonly lines: number;
  readonly note: (line: string) => void;
}

const table =
  'CREATE TABLE query(project INTEGER, id TEXT, occurred_at INTEGER, caller TEXT, PRIMARY KEY(project, id)) WITHOUT ROWID;';

/** Throws early if the machine lacks a requirement. */
export function requireSqliteTool(): void {
  if (sqliteToolVersion() === undefined) {
    throw new Error(
      "The import is measured against SQLite's command-line tool, sqlite3, and it is not installed. Install it " +
        '(Debian and Ubuntu: apt-get install -y sqlite3; Alpine: apk add sqlite; macOS and Windows: sqlite.org/download.html), ' +
        'or leave this benchmark out: npm run bench -- export',
    );
  }
}

export async function benchImport(
  workspace: Workspace,
  { rounds, lines, note }: ImportOptions,
): Promise<Report> {
  requireSqliteTool();
  note(`import: writing ${lines} lines`);
  const ndjson = workspace.path('import.ndjson');
  const csv = workspace.path('import.csv');
  await writeEvents(makeEvents(lines, 1), [
    { file: ndjson, toLine: toNdjson },
    { file: csv, toLine: toCsv },
  ]);

  const ours: number[] = [];
  const tool: number[] = [];
  const peaks: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    note(`import: round ${round} of ${rounds}`);
    const contestants = [
      async () => {
        const { seconds, peakBytes } = await timeService(workspace, ndjson, lines);
        ours.push(lines / seconds);
        if (peakBytes !== undefined) peaks.push(peakBytes / 1_000_000);
      },
      async () => {
        tool.push(lines / (await timeTool(workspace, csv, lines)));
      },
    ];
    // Alternate the order: the second one finds the disk still busy with the first.
    for (const run of round % 2 === 0 ? contestants.reverse() : contestants) await run();
  }
  return {
    name: 'import',
    method:
      `\`caller-stats import\` of ${lines.toLocaleString('en-US')} NDJSON lines into an empty database, compared with \`sqlite3 .import\` of the same ` +
      'rows as CSV into a table with the same unique key. Each is measured from the start of its process to its exit, ' +
      'alternating.',
    ratios: [
      {
        what: 'rows per second, ours over sqlite3 .import',
        values: ours.map((rate, round) => rate / (tool[round] ?? Number.NaN)),
        atLeast: 0.5,
      },
    ],
    absolutes: [
      { what: 'caller-stats import', unit: 'rows/s', values: ours },
      { what: 'sqlite3 .import', unit: 'rows/s', values: tool },
      ...(peaks.length === 0
        ? []
        : [
            {
              what: "caller-stats import, the process's most memory",
              unit: 'MB',
              values: peaks,
              atMost: 200,
            },
          ]),
    ],
  };
}

async function timeService(workspace: Workspace, file: string, lines: number) {
  const folder = 'import-service';
  const database = await Database.create(workspace, folder);
  const taken = await database.importWithPeak(file, lines);
  rmSync(workspace.path(folder), { recursive: true });
  return taken;
}

async function timeTool(workspace: Workspace, file: string, lines: number): Promise<number> {
  const database = workspace.path('import-tool.db');
  const script = `${table}\n.mode csv\n.import '${file}' query\n`;
  const { seconds } = await workspace.run('sqlite3', ['-bail', database], [script]);
  const { stdout } = await workspace.run('sqlite3', [database, 'SELECT count(*) FROM query']);
  if (Number(stdout) !== lines) throw new Error(`of ${lines} rows, sqlite3 has ${stdout.trim()}`);
  rmSync(database);
  return seconds;
}
