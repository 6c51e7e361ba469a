import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Rolldown } from 'vite';

const root = join(import.meta.dirname, '../../..');

let bundle: Promise<URL> | undefined;

/** The writer thread in one CommonJS file: a thread loads it in half the time that its many modules take. */
export function writerBundle(): Promise<URL> {
  bundle ??= makeBundle();
  return bundle;
}

async function makeBundle(): Promise<URL> {
  const built = (await build({
    root,
    configFile: false,
    logLevel: 'warn',
    build: {
      ssr: 'src/storage/sqlite/writer/writer-thread.ts',
      write: false,
      rolldownOptions: { output: { format: 'cjs' } },
    },
  })) as Rolldown.RolldownOutput;
  // Next to the packages that it imports, and complete before it has its name: other runs may be using the file.
  const folder = join(root, 'node_modules/.cache/caller-stats-test');
  const file = join(folder, 'writer-thread.cjs');
  await mkdir(folder, { recursive: true });
  await writeFile(`${file}.${process.pid}`, built.output[0].code);
  await rename(`${file}.${process.pid}`, file);
  return pathToFileURL(file);
}
