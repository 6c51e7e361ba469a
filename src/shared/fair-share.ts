/** Divides the event loop, and the store: while queries are being recorded, all other work leaves recordings at least half of either. */
import { performance } from 'node:perf_hooks';
import { nextTick } from 'node:process';

/**
 * Recording goes on if there was some in this time: senders need a moment between an answer and their next request. Longer would keep readers
 * waiting for a few senders that leave the server free.
 */
const goesOnMs = 5;

/** Less work is not followed by a rest, because timers are not more exact. */
const restlessMs = 2;

/**
 * How many times as long as the work a rest is. Twice, because reading requests, writing to connections and collecting garbage belong to
 * the work and are not measured.
 */
const restFactor = 2;

/** The longest rest, whatever the clock says. */
const restMsMax = 1_000;

/** So long requests may keep others from beginning, if they wait for something. */
const holdMsMax = 10;

/** So many requests that wait begin in the same turn: small ones cost least together. */
const requestsInTurn = 16;

/** What the shares depend on. Tests pass their own. */
export interface Loop {
  readonly nowMs: () => number;
  /** Milliseconds in which the event loop was busy. */
  readonly busyMs: () => number;
  /** Resolves after the event loop has looked at all that arrived. */
  readonly next: () => Promise<void>;
  /** Resolves once everything has run that can before `next`. */
  readonly drained: () => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
}

const NODE: Loop = {
  nowMs: () => {
    const { active, idle } = performance.eventLoopUtilization();
    return active + idle;
  },
  busyMs: () => performance.eventLoopUtilization().active,
  next: () => new Promise((resolve) => setImmediate(resolve)),
  // The tick comes after all promises that are settled or will be until then.
  drained: () => new Promise((resolve) => queueMicrotask(() => nextTick(resolve))),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Whether anything is being recorded. */
export class Recordings {
  readonly #nowMs: () => number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #inStore = 0;

  constructor(nowMs = NODE.nowMs) {
    this.#nowMs = nowMs;
  }

  /** To be called whenever a recording goes on. */
  note(): void {
    this.#lastMs = this.#nowMs();
  }

  /** While the store records. */
  async during<T>(record: () => Promise<T>): Promise<T> {
    this.#inStore++;
    try {
      return await record();
    } finally {
      this.#inStore--;
      this.note();
    }
  }

  /** For a time that does not count. */
  pass(ms: number): void {
    this.#lastMs += ms;
  }

  get goOn(): boolean {
    return this.#inStore > 0 || this.#nowMs() - this.#lastMs < goesOnMs;
  }
}

/** Those of the server. */
export const recordings = new Recordings();

interface Waiting {
  readonly isRequest?: boolean;
  readonly work: () => Promise<unknown>;
}

/**
 * A queue of pieces of work that take their turns one at a time, first come, first served. While recordings go on, a rest of twice
 * as long follows them.
 */
export class FairShare {
  readonly #recordings: Recordings;
  readonly #loop: Loop;
  #waiting: Waiting[] = [];
  /** Ends the turn of requests. */
  #release = () => {};
  #isRunning = false;
  /** What recordings had less than their share, at `#knownMs`. */
  #owedMs = 0;
  #knownMs = 0;

  constructor(of = recordings, loop = NODE) {
    this.#recordings = of;
    this.#loop = loop;
  }

  /** Resolves when it is the caller's turn, which lasts until it waits for something. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#add({
        work: () => {
          resolve();
          return this.#loop.drained();
        },
      });
      // Whoever takes a second turn has none any more.
      this.#release();
    });
  }

  /**
   * Resolves when the turn of a request begins, which lasts until `ended` resolves, but not for long if it waits for something, and not
   * if it takes further turns.
   */
  begin(ended: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      this.#add({
        isRequest: true,
        work: () => {
          resolve();
          return ended;
        },
      });
    });
  }

  /** Does work whose turn lasts until it has ended. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#add({ work: () => work().then(resolve, reject) });
    });
  }

  #add(work: Waiting): void {
    this.#waiting.push(work);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#takeTurns();
  }

  async #takeTurns(): Promise<void> {
    const { nowMs, busyMs, next, wait } = this.#loop;
    while (this.#waiting.length > 0) {
      await next();
      this.#rested();
      // It ends early if nothing is recorded any more.
      while (this.#owedMs >= restlessMs * restFactor) {
        await wait(Math.min(this.#owedMs, goesOnMs));
        this.#rested();
      }
      const { goOn } = this.#recordings;
      const beginMs = busyMs();
      await this.#takeTurn();
      const workedMs = busyMs() - beginMs;
      // Meanwhile nothing could be recorded.
      if (goOn) this.#recordings.pass(workedMs);
      this.#owedMs = Math.min(this.#owedMs + workedMs * restFactor, restMsMax);
      this.#knownMs = nowMs();
    }
    this.#isRunning = false;
  }

  /** What waits longest, or all requests that wait until the next work that is none. */
  async #takeTurn(): Promise<void> {
    const other = this.#waiting.findIndex(({ isRequest }) => !isRequest);
    const requests = Math.min(other === -1 ? this.#waiting.length : other, requestsInTurn);
    const taken = this.#waiting.splice(0, Math.max(requests, 1)).map(({ work }) => work());
    if (requests === 0) return void (await Promise.all(taken));
    const released = new Promise<void>((release) => {
      this.#release = release;
    });
    await Promise.race([Promise.all(taken), released, this.#loop.wait(holdMsMax)]);
  }

  #rested(): void {
    const nowMs = this.#loop.nowMs();
    this.#owedMs = this.#recordings.goOn ? Math.max(0, this.#owedMs - (nowMs - this.#knownMs)) : 0;
    this.#knownMs = nowMs;
  }
}

/** The event loop. */
export const loopShare = new FairShare();

/** The store, for changes in steps that each keep all recordings waiting. */
export const storeShare = new FairShare(recordings, { ...NODE, busyMs: NODE.nowMs });
