/**
 * Builds the parts of the program whose files changed since this script built them last. Tests call it before each run;
 * `npm run build` builds everything.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

interface Part {
  /** Its script in `package.json`. */
  readonly script: string;
  /** What it is made of, besides packages and scripts, as git takes paths: `*.md` is in any folder. */
  readonly inputs: readonly string[];
  /** A file that is written anew by each build. */
  readonly output: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const records = join(root, 'node_modules/.cache/caller-stats');
const common = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts'];
/** None of them needs another: the server's build empties `dist` of its own files only. */
const parts: readonly Part[] = [
  { script: 'build:server', inputs: ['src'], output: 'dist/main.js' },
  {
    script: 'build:client',
    inputs: ['src', 'clients/javascript'],
    output: 'clients/javascript/dist/index.js',
  },
  { script: 'build:dashboard', inputs: ['src', 'dashboard'], output: 'dist/dashboard/index.html' },
  {
    script: 'build:docs',
    // Some of its pages are in other folders.
    inputs: ['docs', 'bench', 'integrations', 'deploy', '*.md'],
    output: 'dist/docs/index.html',
  },
];

const run = promisify(execFile);
mkdirSync(records, { recursive: true });
await Promise.all(parts.map(build));

async function build({ script, inputs, output }: Part): Promise<void> {
  const record = join(records, script.replace(':', '-'));
  const state = hashOf([...common, ...inputs]);
  if (existsSync(record) && readFileSync(record, 'utf8') === `${state} ${writtenAt(output)}`) return;
  // What it prints is shown only if it fails.
  await run('npm', ['run', '--silent', script], { cwd: root });
  writeFileSync(record, `${state} ${writtenAt(output)}`);
}

/** When a file was written, so that a build by another command is noticed. */
function writtenAt(file: string): number | undefined {
  return statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs;
}

/** A hash of the names and contents of all files that git does not ignore. */
function hashOf(paths: readonly string[]): string {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths];
  const names = execFileSync('git', options, { cwd: root, encoding: 'utf8' }).split('\0').sort();
  const hash = createHash('sha256').update(process.version);
  for (const name of new Set(names)) {
    const file = join(root, name);
    if (name !== '' && existsSync(file)) hash.update(`\0${name}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}
