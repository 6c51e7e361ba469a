/**
 * Joins the writer thread and the modules that it imports into one file, because a thread loads one file faster than 60: it
 * starts in half the time.
 */
import { renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const folder = fileURLToPath(new URL('../dist/storage/sqlite/writer', import.meta.url));

await build({
  configFile: false,
  logLevel: 'warn',
  build: {
    ssr: `${folder}/writer-thread.js`,
    target: 'node20',
    outDir: folder,
    emptyOutDir: false,
    rolldownOptions: { output: { entryFileNames: 'writer-thread.js.new' } },
  },
});
// A process that starts the thread meanwhile finds either the old file or the new one.
rmSync(`${folder}/writer-thread.js.map`, { force: true });
renameSync(`${folder}/writer-thread.js.new`, `${folder}/writer-thread.js`);
