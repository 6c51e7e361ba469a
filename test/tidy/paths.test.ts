/** Every path of this repository that a comment or a page mentions exists. */
import { readdirSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, read, root, type Source } from './sources.js';

const FOLDERS = [
  'src',
  'test',
  'docs',
  'bench',
  'scripts',
  'dashboard',
  'client',
  'deploy',
  'integrations',
  'demo',
];
const PAGES = readdirSync(root).filter((name) => name.endsWith('.md'));

/** Made by a build. */
const MADE = /(^|\/)(dist|node_modules|assets|files)\//;
/** Files that users write. */
const OF_USERS = ['deploy/.env', 'prometheus.yml'];
/** A record of measurements, in the paths of the version that was measured. */
const RECORDS = ['bench/profiles.md'];

/** Elsewhere, a path without its first folders is not one of a test. */
const TESTS = /^(test|bench)\//;

/** What a path ends in to be taken for one of a source file or page. */
const PATH = /(?:[\w.@*{},-]+\/)*[\w.@*{},-]*[\w}*]\.(?:ts|tsx|mjs|css|md|yaml|yml|sh)\b(?!\.?\/)/g;
/** A folder, in backticks. */
const FOLDER = /(?<=`)[\w.-]+(?:\/[\w.-]+)*\/(?=`)/g;
/** A folder or file below a top folder, whatever it ends in. */
const BELOW_TOP = new RegExp(`(?<![\\w./@-])(?:${FOLDERS.join('|')})/[\\w./@*{},-]*[\\w}*]`, 'g');

const sources = [
  ...PAGES.map(read),
  ...FOLDERS.flatMap((folder) =>
    filesBelow(folder, '.md', '.ts', '.tsx', '.mjs', '.css', '.yaml', '.yml', '.sh', 'Dockerfile'),
  ),
].filter(({ path }) => !MADE.test(path) && !RECORDS.includes(path));

const files = [...readdirSync(root), ...FOLDERS.flatMap((folder) => below(folder))].filter(
  (path) => !MADE.test(`${path}/`),
);

function below(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) =>
    relative(root, join(entry.parentPath, entry.name)),
  );
}

/** The lines of a page without its blocks of code, or only the comments of a source. */
function proseOf({ path, lines }: Source): string[] {
  if (path.endsWith('.md')) return withoutCodeBlocks(lines);
  const comment = /\.(ts|tsx|mjs|css)$/.test(path) ? /(?:^\s*\/?\*+|(?<!:)\/\/)(.*)$/ : /(?:^|\s)#(.*)$/;
  return lines.map((line) => comment.exec(line)?.[1] ?? '');
}

function withoutCodeBlocks(lines: readonly string[]): string[] {
  let isCode = false;
  return lines.map((line) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    return isCode ? '' : line;
  });
}

function pathsIn(line: string): string[] {
  // Addresses and absolute paths are of other places.
  const prose = line.replaceAll(/\b\w+:\/\/\S+|(?<![\w.*}])[~$]?\/[\w./-]+/g, ' ');
  return [...(prose.match(PATH) ?? []), ...(prose.match(BELOW_TOP) ?? []), ...(prose.match(FOLDER) ?? [])];
}

/** Whether it is the path of a file from the root or the mentioning file's folder, or the end of one. */
function exists(mentioned: string, from: string): boolean {
  if (MADE.test(`${mentioned}/`) || OF_USERS.includes(mentioned)) return true;
  const isOfTests = TESTS.test(from);
  const whole = [mentioned, join(dirname(from), mentioned)].map(normalize).map(patternOf).join('|');
  const end = patternOf(normalize(mentioned));
  const [wholePattern, endPattern] = [new RegExp(`^(${whole})/?$`), new RegExp(`/${end}/?$`)];
  return files.some(
    (file) => wholePattern.test(file) || (endPattern.test(file) && (isOfTests || !TESTS.test(file))),
  );
}

/** `*` stands for any part of a name, and `{a,b}` for either. */
function patternOf(path: string): string {
  return path
    .replace(/\/$/, '')
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(.*/)?')
    .replaceAll(/(?<!\.)\*/g, '[^/]*')
    .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`);
}

function wrongPaths(source: Source): string[] {
  return proseOf(source).flatMap((line, at) =>
    pathsIn(line)
      .filter((path) => !exists(path, source.path))
      .map((path) => `${source.path}:${at + 1}: ${path}`),
  );
}

test('every path that a comment or a page mentions exists', () => {
  expect(sources.flatMap(wrongPaths)).toEqual([]);
});

test.each([
  'src/nowhere/at-all.ts',
  '`nowhere/file.ts`',
  'see `test/tidy/shards.test.ts`.',
  '`nowhere.ts`',
  '`no/folder/`',
  'docs/nowhere.md,',
  'http/{overload,errors}.gone.ts',
])('a false path is found: %s', (prose) => {
  for (const path of ['ARCHITECTURE.md', 'src/http/planted.ts', 'deploy/planted.yaml'])
    expect(wrongPaths({ path, text: '', lines: ['', `# // ${prose}`] })).not.toEqual([]);
});
