/** The machine on which the figures were measured. */
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { DatabaseSync } from '@photostructure/sqlite';

export function describeMachine(): string[] {
  const processors = cpus();
  const load = loadavg().map((average) => average.toFixed(2));
  return [
    `Machine: ${processors[0]?.model.trim() ?? 'unknown'}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}`,
    `Node ${process.versions.node}, SQLite ${ownSqliteVersion()} in the service, sqlite3 ${sqliteToolVersion() ?? 'not installed'}`,
    `Finished: ${new Date().toISOString().slice(0, 16)}Z; load averages then ${load.join(', ')}`,
  ];
}

/** The version of SQLite's command-line tool; undefined if it is not installed. */
export function sqliteToolVersion(): string | undefined {
  try {
    return execFileSync('sqlite3', ['--version'], { encoding: 'utf8' }).split(' ')[0];
  } catch {
    return undefined;
  }
}

function ownSqliteVersion(): string {
  const db = new DatabaseSync(':memory:');
  try {
    return String(db.prepare('SELECT sqlite_version() AS version').get().version);
  } finally {
    db.close();
  }
}
