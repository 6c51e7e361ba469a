/**
 * Hashes passwords on a thread of its own. A hash takes 32 MB and about 0.1 s. On the threads that Node shares between all
 * of a process, a few of them at once would delay every file and every compressed body.
 */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { platform, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

/** A password to hash, or to compare with a hash. */
export interface HashingTask {
  readonly password: string;
  readonly hash?: string;
}

export type HashingResult = { readonly value: string | boolean } | { readonly problem: string };

/** How the thread gives way to others: 0 not at all, up to 19. */
export type Niceness = number;

/** The sign-in library's own form: `salt:key` in hexadecimal, so that it reads these hashes and this thread reads its. */
const cost = { N: 2 ** 14, r: 16, p: 1, maxmem: 2 ** 26 };
const keyBytes = 64;
const saltBytes = 16;

/** Never null, because this file runs only on worker threads. */
const port = parentPort as MessagePort;

// Linux lowers only this thread. Elsewhere everything else that the program does would give way, too.
if (platform() === 'linux') setPriority(0, workerData as Niceness);

port.on('message', (task: HashingTask) => port.postMessage(run(task)));

function run({ password, hash }: HashingTask): HashingResult {
  if (hash === undefined) {
    const salt = randomBytes(saltBytes).toString('hex');
    return { value: `${salt}:${deriveKey(password, salt).toString('hex')}` };
  }
  const [salt = '', key = ''] = hash.split(':');
  const expected = Buffer.from(key, 'hex');
  if (salt === '' || expected.length !== keyBytes) return { problem: 'the stored hash is malformed' };
  return { value: timingSafeEqual(deriveKey(password, salt), expected) };
}

function deriveKey(password: string, salt: string): Buffer {
  return scryptSync(password.normalize('NFKC'), salt, keyBytes, cost);
}
