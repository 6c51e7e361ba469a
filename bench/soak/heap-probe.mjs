/** Loaded into the server before its program: at SIGUSR2 it collects garbage and writes what is left into `heap.json`. */
import { renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  writeFileSync('heap.new', JSON.stringify(process.memoryUsage()));
  renameSync('heap.new', 'heap.json');
});
