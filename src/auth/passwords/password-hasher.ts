/**
 * Hashes and checks passwords, a few at a time. People who have signed in with their browser before, or are signed in, have
 * a lane and a thread of their own, so that strangers who try passwords neither keep them out nor make them wait.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Worker } from 'node:worker_threads';
import { CallerStatsError } from '../../domain/errors.js';
import {
  hashingIdleMs,
  knownSignInsMax,
  networkSignInsMax,
  strangerSignInsMax,
  userSignInsMax,
} from '../../domain/limits.js';
import { startThread } from '../../shared/start-thread.js';
import { withStorages } from '../storages.js';
import type { HashingResult, HashingTask, Niceness } from './hashing-thread.js';
import type { HashedForm } from './password-hash.js';

/** Who waits for a hash. */
export type Lane = 'known' | 'stranger';

/** Strangers give way to everything else that the machine does. */
const LANES = {
  known: { placesMax: knownSignInsMax, ownMax: userSignInsMax, niceness: 0 },
  stranger: { placesMax: strangerSignInsMax, ownMax: networkSignInsMax, niceness: 19 },
} as const satisfies Readonly<Record<Lane, { placesMax: number; ownMax: number; niceness: Niceness }>>;

/** The memory of a thread besides that of the hash: it keeps nothing. */
const resourceLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 16 };

/** The lane of the current work. One for all hashers, because each one slows every promise of the process (Node 20). */
const currentLane = new AsyncLocalStorage<Lane>();

export class PasswordHasher {
  readonly #taken: Record<Lane, number> = { known: 0, stranger: 0 };
  /** The places that each known user, or network of strangers, has taken. */
  readonly #byOwner = new Map<string, number>();

  /**
   * Runs `work` with a place in the lane, where its hashes are computed. Throws `busy` at once if all places are taken, or
   * those that one `owner` may have: a known user, or the network of a stranger.
   * Hashes outside a lane are for people who hold a link or a session, so they belong to the lane of known people.
   */
  async inLane<T>(lane: Lane, work: () => Promise<T>, owner?: string): Promise<T> {
    const own = owner === undefined ? 0 : (this.#byOwner.get(owner) ?? 0);
    if (this.#taken[lane] >= LANES[lane].placesMax || own >= LANES[lane].ownMax) {
      throw new CallerStatsError('busy', 'Too many people are signing in at once; try again.');
    }
    this.#taken[lane]++;
    if (owner !== undefined) this.#byOwner.set(owner, own + 1);
    try {
      return await withStorages(() => currentLane.run(lane, work), [currentLane]);
    } finally {
      this.#taken[lane]--;
      if (owner !== undefined) this.#leave(owner);
    }
  }

  #leave(owner: string): void {
    const left = (this.#byOwner.get(owner) ?? 0) - 1;
    if (left > 0) this.#byOwner.set(owner, left);
    else this.#byOwner.delete(owner);
  }

  /** A hash of the password exactly as it is, unless another form is asked for. */
  async hash(password: string, form: HashedForm = 'exact'): Promise<string> {
    return String(await this.#run({ password, form, salt: undefined }));
  }

  /** The hash with this salt, which is the same each time. */
  async hashWithSalt(secret: string, salt: string): Promise<string> {
    return String(await this.#run({ password: secret, form: 'exact', salt }));
  }

  async verify({ password, hash }: { readonly password: string; readonly hash: string }): Promise<boolean> {
    return (await this.#run({ password, hash })) === true;
  }

  #run(task: HashingTask): Promise<string | boolean> {
    const lane = currentLane.getStore();
    if (lane === undefined) return this.inLane('known', () => this.#run(task));
    return threads[lane].run(task);
  }
}

type Settle = { resolve: (value: string | boolean) => void; reject: (error: Error) => void };

/** A thread that is started for the first task, and ends after a while without any. */
class HashingThread {
  readonly #niceness: Niceness;
  /** In the order of their tasks, in which the thread answers. */
  #waiting: Settle[] = [];
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(niceness: Niceness) {
    this.#niceness = niceness;
  }

  run(task: HashingTask): Promise<string | boolean> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#worker.postMessage(task);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #start(): Worker {
    const worker = startThread(new URL('./hashing-thread.cjs', import.meta.url), {
      workerData: this.#niceness,
      resourceLimits,
    });
    worker.on('message', (result: HashingResult) => {
      const settle = this.#waiting.shift();
      if ('problem' in result) settle?.reject(new Error(result.problem));
      else settle?.resolve(result.value);
      if (this.#waiting.length === 0) this.#rest(worker);
    });
    const end = (error: Error) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const { reject } of waiting) reject(error);
    };
    worker.on('error', end);
    worker.on('exit', (status) => end(new Error(`a thread for passwords ended with status ${status}`)));
    return worker;
  }

  /** Without tasks, the thread neither keeps the process running nor takes memory for long. */
  #rest(worker: Worker): void {
    worker.unref();
    this.#idle = setTimeout(() => {
      this.#worker = undefined;
      void worker.terminate();
    }, hashingIdleMs).unref();
  }
}

/** One of each lane for all hashers of the process: they keep nothing between two tasks. */
const threads: Readonly<Record<Lane, HashingThread>> = {
  known: new HashingThread(LANES.known.niceness),
  stranger: new HashingThread(LANES.stranger.niceness),
};
