/**
 * Hashes passwords on a thread of its own. A hash takes 32 MB and about 0.3 s. On the threads that Node shares between all
 * of a process, a few of them at once would delay every file and every compressed body.
 */
import { platform, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createHash, type HashedForm, matchesHash, parseHash } from './password-hash.js';

/** A password to compare with a hash, or to hash, with a new salt unless one is given. */
export type HashingTask = { readonly password: string } & (
  | { readonly hash: string }
  | { readonly form: HashedForm; readonly salt: string | undefined }
);

export type HashingResult = { readonly value: string | boolean } | { readonly problem: string };

/** How the thread gives way to others: 0 not at all, up to 19. */
export type Niceness = number;

/** Never null, because this file runs only on worker threads. */
const port = parentPort as MessagePort;

// Linux lowers only this thread. Elsewhere everything else that the program does would give way, too.
if (platform() === 'linux') setPriority(0, workerData as Niceness);

port.on('message', (task: HashingTask) => port.postMessage(answer(task)));

function answer(task: HashingTask): HashingResult {
  const { password } = task;
  if ('form' in task) return { value: createHash(password, task.form, task.salt) };
  const stored = parseHash(task.hash);
  return stored === undefined
    ? { problem: 'the stored hash is malformed' }
    : { value: matchesHash(password, stored) };
}
