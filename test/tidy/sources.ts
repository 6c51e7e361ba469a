import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Source {
  /** Relative to the root of the repository, such as `src/http/app.ts`. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
}

/** Files below a folder whose names have one of these endings, without those of installed packages. */
export function filesBelow(folder: string, ...ends: string[]): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && ends.some((end) => entry.name.endsWith(end)))
    .filter((entry) => !/\bnode_modules\b|\.venv\b/.test(relative(root, entry.parentPath)))
    .map((entry) => read(relative(root, join(entry.parentPath, entry.name))))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function read(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, lines: text.split('\n') };
}

/** The cells of the rows of the table of a page whose first column has this heading. */
export function tableBelow(path: string, heading: string): string[][] {
  const { lines } = read(path);
  const head = lines.findIndex((line) => line.startsWith(`| ${heading}`));
  if (head < 0) throw new Error(`${path} has no table with the column: ${heading}`);
  const after = lines.slice(head + 2);
  const rows = after.slice(
    0,
    after.findIndex((line) => !line.startsWith('|')),
  );
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The imports of a source file: paths of the repository and names of packages. */
export function importsOf({ path, text }: Source): string[] {
  const specifiers = [
    ...text.matchAll(
      /^(?:import|export)\s[^;]*?from '([^']+)'|^import '([^']+)'|(?:new URL|import)\('(\.[^']+\.js)'/gm,
    ),
  ];
  return specifiers
    .map((match) => match[1] ?? match[2] ?? match[3] ?? '')
    .map((name) =>
      name.startsWith('.') ? normalize(join(dirname(path), name)).replace(/\.js$/, '.ts') : name,
    );
}

/** The matching lines as `path:line: text`. */
export function linesMatching(sources: readonly Source[], pattern: RegExp): string[] {
  return sources.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  );
}

/** The given files and everything that they import, directly or indirectly. */
export function findReachable(
  start: readonly string[],
  importsOfPath: (path: string) => readonly string[],
): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    importsOfPath(path).forEach(visit);
  };
  start.forEach(visit);
  return reached;
}
