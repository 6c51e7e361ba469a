/** What organizations and projects have in common: an id and a name that people choose. */

import { formatTime } from '../../domain/format.js';
import { nameCharactersMax } from '../../domain/limits.js';
import { isName, isProjectId, PROJECT_ID_PATTERN } from '../../domain/projects/project.js';
import { type Io, UsageError } from '../io.js';
import { printJson, printTable } from '../terminal/output.js';

interface Named {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** `UsageError` with everything that is wrong with the name and id of something new. */
export function checkNewNamed(name: string, id: string | undefined): void {
  const problems: string[] = [];
  if (!isName(name)) problems.push(`NAME: is not 1 to ${nameCharactersMax} visible characters`);
  if (id !== undefined && !isProjectId(id)) problems.push(`--id: does not match ${PROJECT_ID_PATTERN}`);
  if (problems.length > 0) throw new UsageError(problems);
}

/** What is shown of one. */
export function toListedNamed({ id, name, createdAt }: Named) {
  return { id, name, createdAt: formatTime(createdAt) };
}

export function printNamed(named: readonly Named[], { json }: { readonly json?: boolean }, io: Io): void {
  const rows = named.map(toListedNamed);
  const cells = rows.map(({ id, name, createdAt }) => [id, name, createdAt]);
  if (json) printJson(io.stdout, rows);
  else printTable(io.stdout, ['ID', 'NAME', 'CREATED'], cells);
}
