/**
 * `npm run binary` makes `dist-binary/caller-stats`, an executable for this platform: Node with all files of the package. It
 * needs neither Node nor npm, and unpacks nothing. `npm run binary -- linux-arm64` makes one for another platform. `import` and `node:fs` find the
 * files below the folder of the running file, so the code is the same. Threads do not see them: they get their code as text
 * (`shared/start-thread.ts`), in which `node:sqlite` takes the place of `@photostructure/sqlite`, whose interface is the same.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_VERSION, NODES } from './release/node.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist-binary');
const here = `${process.platform}-${process.arch}`;
const [platform = here] = process.argv.slice(2);
const isWindows = platform === 'win32-x64';
const isMac = platform.startsWith('darwin-');
const output = join(folder, isWindows ? 'caller-stats.exe' : 'caller-stats');

/** The programs that remove symbols from executables for another Linux, and the packages of Debian that have them. */
const STRIPS: Readonly<Record<string, readonly [program: string, origin: string]>> = {
  'linux-x64': ['x86_64-linux-gnu-strip', 'binutils-x86-64-linux-gnu'],
  'linux-arm64': ['aarch64-linux-gnu-strip', 'binutils-aarch64-linux-gnu'],
};

const OWN_STRIP = process.platform === 'linux' ? (['strip', 'binutils'] as const) : undefined;

/** The built files that open SQLite databases, of the main thread and of the writer thread. */
const sqliteFilesCount = 2;

/** Runs a program, whose output is shown. */
function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Packs a package and unpacks it into a folder, which it returns. Checks the hash of the packed file, if there is one. */
function unpack(name: string, target: string, integrity?: string): string {
  const packed = join(folder, 'packed');
  rmSync(packed, { recursive: true, force: true });
  mkdirSync(packed);
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', packed, name];
  execFileSync('npm', args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  const [file = ''] = readdirSync(packed);
  const bytes = readFileSync(join(packed, file));
  if (
    integrity !== undefined &&
    integrity !== `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  )
    throw new Error(`${file} has not the expected content: it was changed on its way, or in the registry`);
  run('tar', ['-xzf', join(packed, file), '-C', packed]);
  rmSync(target, { recursive: true, force: true });
  renameSync(join(packed, 'package'), target);
  rmSync(packed, { recursive: true });
  return target;
}

/** The folder with Node for a platform, which is fetched once. */
function findNode(which: string): string {
  const [name, integrity] = NODES[which] ?? [];
  if (name === undefined)
    throw new Error(`There is no executable for ${which}, only for ${Object.keys(NODES).join(', ')}.`);
  const target = join(folder, `node-${which}-${NODE_VERSION}`);
  if (!existsSync(target)) unpack(`${name}@${NODE_VERSION}`, target, integrity);
  return target;
}

function nodeIn(target: string): string {
  const [name = ''] = readdirSync(join(target, 'bin')).filter((one) => /^node(\.exe)?$/.test(one));
  return join(target, 'bin', name);
}

/** Copies Node without what debuggers need, a fifth of its size on Linux. */
function copyNode(from: string): string {
  const to = join(folder, isWindows ? 'node.exe' : 'node');
  cpSync(from, to);
  const [strip, origin] = (platform === here ? OWN_STRIP : STRIPS[platform]) ?? [];
  if (strip !== undefined) {
    try {
      run(strip, ['--strip-unneeded', to]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw new Error(`The program ${strip} is missing. Install it: apt-get install -y ${origin}`);
    }
  }
  if (isMac) run('codesign', ['--remove-signature', to]);
  return to;
}

/** Threads find no packages in the executable, so both files use the same binding from Node itself. */
function importSqliteOfNode(dist: string): void {
  let files = 0;
  for (const name of readdirSync(dist).filter((one) => /\.c?js$/.test(one))) {
    const file = join(dist, name);
    const code = readFileSync(file, 'utf8');
    const changed = code.replaceAll(/(from |require\()"@photostructure\/sqlite"/g, '$1"node:sqlite"');
    if (changed === code) continue;
    writeFileSync(file, changed);
    files++;
  }
  if (files !== sqliteFilesCount) throw new Error(`${files} files use SQLite, not ${sqliteFilesCount}`);
}

/** All files below a folder: their names within it, with slashes, and where they are. */
function filesBelow(top: string): Record<string, string> {
  const entries = readdirSync(top, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [relative(top, path).replaceAll(sep, '/'), path]));
}

function makeExecutable(): void {
  if (isMac && process.platform !== 'darwin')
    throw new Error('Only macOS can sign executables for macOS: make it there.');
  mkdirSync(folder, { recursive: true });
  const node = findNode(platform);
  cpSync(join(node, 'LICENSE'), join(folder, 'LICENSE-node'));
  const executable = copyNode(nodeIn(node));
  const files = unpack('.', join(folder, 'files'));
  importSqliteOfNode(join(files, 'dist'));
  const main = join(folder, 'main.cjs');
  writeFileSync(
    main,
    "import(require('node:url').pathToFileURL(require('node:path').join(__dirname, 'dist/main.js')).href);\n",
  );
  const config = join(folder, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      main,
      output,
      executable,
      useVfs: true,
      disableExperimentalSEAWarning: true,
      assets: filesBelow(files),
    }),
  );
  rmSync(output, { force: true });
  run(nodeIn(findNode(here)), ['--build-sea', config]);
  if (isMac) run('codesign', ['--sign', '-', output]);
  for (const used of [main, config, executable]) rmSync(used);
  process.stdout.write(`${relative(root, output)}: ${(statSync(output).size / 1e6).toFixed(1)} MB\n`);
}

try {
  makeExecutable();
} catch (error) {
  process.stderr.write(`binary: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
