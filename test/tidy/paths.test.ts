/** Every path that a comment or a page mentions exists in the repository. */
import { readdirSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, read, root, type Source } from './sources.js';

const FOLDERS = [
  '.github',
  'src',
  'test',
  'docs',
  'bench',
  'scripts',
  'dashboard',
  'clients',
  'deploy',
  'integrations',
  'demo',
];
const PAGES = readdirSync(root).filter((name) => name.endsWith('.md'));

/** Folders that a build creates. */
const BUILT = /(^|\/)(dist|node_modules|assets|files)\//;
/** Files that users create. */
const USER_FILES = ['deploy/.env', 'prometheus.yml'];

/** Outside of these folders, a path without its first folders does not mean a file in them. */
const TESTS = /^(test|bench)\//;

/** The path of a source file or page. */
const PATH = /(?:[\w.@*{},-]+\/)*[\w.@*{},-]*[\w}*]\.(?:ts|tsx|mjs|css|md|yaml|yml|sh)\b(?!\.?\/)/g;
/** A folder in backticks. */
const FOLDER = /(?<=`)[\w.-]+(?:\/[\w.-]+)*\/(?=`)/g;
/** Any folder or file below a top folder. */
const BELOW_TOP = new RegExp(`(?<![\\w./@-])(?:${FOLDERS.join('|')})/[\\w./@*{},-]*[\\w}*]`, 'g');

const sources = [
  ...PAGES.map(read),
  ...FOLDERS.flatMap((folder) =>
    filesBelow(folder, '.md', '.ts', '.tsx', '.mjs', '.css', '.yaml', '.yml', '.sh', 'Dockerfile'),
  ),
].filter(({ path }) => !BUILT.test(path));

const files = [...readdirSync(root), ...FOLDERS.flatMap(listBelow)].filter((path) => !BUILT.test(`${path}/`));

function listBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) =>
    relative(root, join(entry.parentPath, entry.name)),
  );
}

/** The lines of a page without blocks of code, or the comments of a source file. */
function extractProse({ path, lines }: Source): string[] {
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

function findPaths(line: string): string[] {
  // URLs and absolute paths are not paths of the repository.
  const prose = line.replaceAll(/\b\w+:\/\/\S+|(?<![\w.*}])[~$]?\/[\w./-]+/g, ' ');
  return [...(prose.match(PATH) ?? []), ...(prose.match(BELOW_TOP) ?? []), ...(prose.match(FOLDER) ?? [])];
}

/** Whether it is a path from the root or the mentioning file's folder, or the end of one. */
function exists(mentioned: string, from: string): boolean {
  if (BUILT.test(`${mentioned}/`) || USER_FILES.includes(mentioned)) return true;
  const isOfTests = TESTS.test(from);
  const whole = [mentioned, join(dirname(from), mentioned)].map(normalize).map(toPattern).join('|');
  const end = toPattern(normalize(mentioned));
  const [wholePattern, endPattern] = [new RegExp(`^(${whole})/?$`), new RegExp(`/${end}/?$`)];
  return files.some(
    (file) => wholePattern.test(file) || (endPattern.test(file) && (isOfTests || !TESTS.test(file))),
  );
}

/** Converts `*` and `{a,b}` to regular expressions. */
function toPattern(path: string): string {
  return path
    .replace(/\/$/, '')
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(.*/)?')
    .replaceAll(/(?<!\.)\*/g, '[^/]*')
    .replaceAll(/\{([^}]*)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`);
}

function findWrongPaths(source: Source): string[] {
  return extractProse(source).flatMap((line, at) =>
    findPaths(line)
      .filter((path) => !exists(path, source.path))
      .map((path) => `${source.path}:${at + 1}: ${path}`),
  );
}

test('every mentioned path exists', () => {
  expect(sources.flatMap(findWrongPaths)).toEqual([]);
});

test.each([
  'src/nowhere/at-all.ts',
  '`nowhere/file.ts`',
  'see `test/tidy/shards.test.ts`.',
  '`nowhere.ts`',
  '`no/folder/`',
  'docs/nowhere.md,',
  'http/{overload,errors}.gone.ts',
])('the check finds the wrong path %s', (prose) => {
  for (const path of ['ARCHITECTURE.md', 'src/http/planted.ts', 'deploy/planted.yaml'])
    expect(findWrongPaths({ path, text: '', lines: ['', `# // ${prose}`] })).not.toEqual([]);
});
