/**
 * Hashes passwords on a thread of its own. A hash takes 32 MB and about 0.3 s. On the threads that Node shares between all
 * of a process, a few of them at once would delay every file and every compressed body.
 */
import { platform, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createHash, matchesHash, parseHash } from './password-hash.js';

/** A password to hash, or to compare with a hash. */
export interface HashingTask {
  readonly password: string;
  readonly hash?: string;
}

export type HashingResult = { readonly value: string | boolean } | { readonly problem: string };

/** How the thread gives way to others: 0 not at all, up to 19. */
export type Niceness = number;

/** Never null, because this file runs only on worker threads. */
const port = parentPort as MessagePort;

// Linux lowers only this thread. Elsewhere everything else that the program does would give way, too.
if (platform() === 'linux') setPriority(0, workerData as Niceness);

port.on('message', (task: HashingTask) => port.postMessage(answer(task)));

function answer({ password, hash }: HashingTask): HashingResult {
  const text = password.normalize('NFKC');
  if (hash === undefined) return { value: createHash(text) };
  const stored = parseHash(hash);
  return stored === undefined
    ? { problem: 'the stored hash is malformed' }
    : { value: matchesHash(text, stored) };
}
