/** Builds the client package: a flat `clients/javascript/dist` of the compiled `clients/javascript/src` and the modules of `src` that it imports. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'clients/javascript/dist');
/** A relative import of a module, in any folder. */
const relativeImport = /'\.{1,2}\/(?:[a-z.-]+\/)*([a-z-]+\.js)'/g;

const compiled = mkdtempSync(join(tmpdir(), 'caller-stats-client-'));
try {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--project', 'clients/javascript', '--noEmit', 'false', '--outDir', compiled];
  execFileSync(process.execPath, [tsc, ...options], { cwd: root, stdio: 'inherit' });
  const folders = [
    'clients/javascript/src',
    'clients/javascript/src/middleware',
    'src/domain/calendar',
    'src/domain/queries',
    'src/shared',
  ];
  const files = folders.flatMap((folder) =>
    readdirSync(join(compiled, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => ({ folder: join(compiled, folder), name })),
  );
  mkdirSync(dist, { recursive: true });
  for (const { folder, name } of files) {
    const text = readFileSync(join(folder, name), 'utf8');
    // A process that imports the package meanwhile finds either the old file or the new one.
    writeFileSync(join(dist, `${name}.new`), text.replaceAll(relativeImport, "'./$1'"));
    renameSync(join(dist, `${name}.new`), join(dist, name));
  }
  const current = new Set(files.map(({ name }) => name));
  for (const name of readdirSync(dist)) {
    if (!current.has(name)) rmSync(join(dist, name), { recursive: true });
  }
} finally {
  rmSync(compiled, { recursive: true });
}
