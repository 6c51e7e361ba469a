/** The machine on which the figures were measured. */
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';

export function describeMachine(): { readonly processor: string; readonly date: string } {
  const [first, ...more] = cpus();
  return {
    processor: `${first?.model.trim() ?? 'unknown'}, ${more.length + 1} cores, Node ${process.versions.node}`,
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The version of SQLite's command-line tool; undefined if it is not installed. */
export function sqliteToolVersion(): string | undefined {
  try {
    return execFileSync('sqlite3', ['--version'], { encoding: 'utf8' }).split(' ')[0];
  } catch {
    return undefined;
  }
}
