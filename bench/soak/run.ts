/**
 * `npx tsx bench/soak/run.ts --minutes N [--store postgres]` runs all operations at a moderate rate for a long time. Prints the
 * resource usage of the first and last quarter; fails if something grew that should not, or if a count is wrong.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { accessTo } from '../support/access.js';
import { createDatabase, withPostgres } from '../support/postgres.js';
import { Database } from '../support/service.js';
import { type Workspace, withWorkspace } from '../support/workspace.js';
import { Load } from './load.js';
import { compareQuarters, look, type Row, type Sample } from './samples.js';

const probe = fileURLToPath(new URL('./heap-probe.mjs', import.meta.url));
const stepMs = 100;
const samplesPerRun = 60;
const STORES = ['sqlite', 'postgres'];
const say = (line: string) => process.stderr.write(`${line}\n`);

async function soak(workspace: Workspace, minutes: number, url?: string): Promise<boolean> {
  const database = await Database.create(workspace, 'soak', url);
  const server = await database.serveWith(['--expose-gc', '--import', probe]);
  const load = new Load(await accessTo(database, server.url));
  const wal = workspace.path('soak/caller-stats.db-wal');
  const samples: Sample[] = [];
  const endMs = performance.now() + minutes * 60_000;
  const steps = Math.ceil((minutes * 60_000) / stepMs);
  const stepsPerSample = Math.max(10, Math.floor(steps / samplesPerRun));
  for (let step = 1; step <= steps && performance.now() < endMs; step++) {
    const begun = performance.now();
    await load.step();
    if (step % stepsPerSample === 0) {
      samples.push(await look(workspace, server, wal, load));
      say(`${Math.round((endMs - performance.now()) / 1000)} s to go, ${load.expected.total} acknowledged`);
    }
    await delay(Math.max(0, stepMs - (performance.now() - begun)));
  }
  await load.check();
  await database.verify();
  return report(compareQuarters(samples), load, minutes);
}

function report(rows: readonly Row[], { answers, expected, troubles }: Load, minutes: number): boolean {
  const table = [
    ['what', 'first quarter', 'last quarter', 'bound', ''],
    ...rows.map(({ what, first, last, bound, holds }) => [
      what,
      first,
      last,
      bound,
      holds ? 'holds' : 'BROKEN',
    ]),
  ];
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const asked = [...answers].sort().map(([what, count]) => `${what}: ${count}`);
  const requests = [...answers.values()].reduce((sum, count) => sum + count, 0);
  const well = troubles.length === 0 && rows.every(({ holds }) => holds);
  const verdict = well ? 'nothing grew, every count is exact' : ['FAILED', ...troubles].join('\n');
  process.stdout.write(
    `${lines.join('\n')}\n\n${asked.join(', ')}\n\n${minutes} minutes, ${requests} requests, ` +
      `${expected.total} queries acknowledged: ${verdict}\n`,
  );
  return well;
}

try {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '10' }, store: { type: 'string', default: 'sqlite' } },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 10_000) || !STORES.includes(values.store))
    throw new Error('usage: npx tsx bench/soak/run.ts [--minutes N] [--store sqlite|postgres]');
  const well = await withWorkspace((workspace) =>
    values.store === 'postgres'
      ? withPostgres(async (server) => soak(workspace, minutes, await createDatabase(server, 'soak')))
      : soak(workspace, minutes),
  );
  if (!well) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`soak: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
