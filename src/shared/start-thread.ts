import { readFileSync } from 'node:fs';
import { isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a thread from a built file of the program that imports only modules of Node. In the executable (`npm run binary`), the
 * files of the program exist for the main thread alone, so the thread gets the text of its file.
 */
export function startThread(file: URL, options: WorkerOptions): Worker {
  if (!isSea()) return new Worker(file, options);
  return new Worker(readFileSync(file, 'utf8'), { ...options, eval: true });
}
