/** Preloaded into the server: on SIGUSR2 it collects garbage and writes the remaining heap size to `heap.json`. */
import { renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  writeFileSync('heap.new', JSON.stringify(process.memoryUsage()));
  renameSync('heap.new', 'heap.json');
});
