/** The part of the storage port that bounds attempts. What `store.ts` says of every method holds here too. */

/** What a limit allows: so many attempts within a window that begins with the first of them. */
export interface AttemptLimit {
  readonly attemptsMax: number;
  readonly windowMs: number;
}

export interface Attempt {
  readonly isAllowed: boolean;
  /** When the window ends and the attempts in it are forgotten, in milliseconds since 1970. */
  readonly resetsAt: number;
}

/** Counts of attempts by key, shared by all handles of the database. Keys are hashes and say nothing of people. */
export interface Throttles {
  /**
   * Counts an attempt, unless the limit is reached. Decides and counts in one statement: attempts that run in parallel,
   * through any number of handles, never pass the limit together. Also removes some of the windows that have ended.
   */
  take(key: string, limit: AttemptLimit, nowMs: number): Promise<Attempt>;

  /** Takes back an allowed attempt. Does nothing when its window has ended and another one has begun. */
  giveBack(key: string, resetsAt: number): Promise<void>;

  /** Forgets all attempts of the key. */
  reset(key: string): Promise<void>;
}

/** Ended windows that one `take` removes at most: more than it adds, so that they cannot pile up. */
export const expiredWindowsMax = 100;
