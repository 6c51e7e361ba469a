/**
 * Shares the event loop, and the store: while queries are being recorded, what reads or corrects is followed by rests, so that recordings
 * have at least half of either. Without recordings nothing rests, and nothing waits for longer than a rest without any progress.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';

/** Senders need a moment between an answer and their next request. */
const goesOnMs = 3;

/**
 * How many times the watch may find a recording in progress without any work done for it before that recording stops counting: it waits
 * for its sender, and a slow sender must not slow down everybody else.
 */
const unnotedMax = 8;

/**
 * How many times as long as the work a rest is. Not once, because reading requests, writing to connections and collecting garbage belong to
 * the work and are not measured.
 */
const restFactor = 3;

/** The longest rest, whatever the clock says. */
const restMsMax = 500;

/** Timers are not more exact. What is owed beyond is added to the next rest. */
const restMsMin = 1;

/** At most so many requests that wait begin together, and fewer if they take longer than `turnMsMax`: small ones cost least together. */
const requestsInTurn = 16;
const turnMsMax = 4;

/**
 * While nothing is recorded and no more requests than this are in progress, requests begin at once. A recording that then arrives waits
 * for these, not for thousands.
 */
const uncrowdedMax = 64;
/** If more are in progress, the limits are these instead of the two above. */
const idleRequestsInTurn = 128;
const idleTurnMsMax = 20;

/** So many turns of the event loop belong to what began in the first: authentication, and the body. */
const loopTurns = 3;

/** For recordings, which share with nobody: resolves after the event loop has done its other work. */
export function nextLoopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** What the shares depend on. Tests pass their own. */
export interface Loop {
  readonly nowMs: () => number;
  /** Resolves after the event loop has looked at all that arrived. */
  readonly next: () => Promise<void>;
  readonly wait: (ms: number) => Promise<void>;
}

const NODE: Loop = {
  nowMs: () => {
    const { active, idle } = performance.eventLoopUtilization();
    return active + idle;
  },
  next: nextLoopTurn,
  wait: (ms) => setTimeout(ms),
};

/** Whether recordings follow one another. A few that come one by one need no rests: they wait for the work of one turn at most. */
export class Recordings {
  readonly #loop: Pick<Loop, 'wait' | 'next'>;
  #goOn = false;
  #isWatched = false;
  #isNoted = false;
  #inStore = 0;
  #inProgress = 0;

  constructor(loop: Pick<Loop, 'wait' | 'next'> = NODE) {
    this.#loop = loop;
  }

  get goOn(): boolean {
    return this.#goOn;
  }

  /** A recording has arrived. `end` must follow. */
  arrive(): void {
    if (this.#isWatched) this.#goOn = true;
    this.#inProgress++;
    this.note();
  }

  /** A recording was answered or refused, or its client has left. */
  end(): void {
    this.#inProgress--;
  }

  /** Something was done for a recording. */
  note(): void {
    this.#isNoted = true;
    if (!this.#isWatched) void this.#watch();
  }

  /** While the store records. */
  async during<T>(record: () => Promise<T>): Promise<T> {
    this.#inStore++;
    this.note();
    try {
      return await record();
    } finally {
      this.#inStore--;
      this.note();
    }
  }

  async #watch(): Promise<void> {
    this.#isWatched = true;
    let unnoted = 0;
    while (this.#isNoted || this.#inStore > 0 || (this.#inProgress > 0 && unnoted < unnotedMax)) {
      unnoted = this.#isNoted ? 0 : unnoted + 1;
      this.#isNoted = false;
      await this.#loop.wait(goesOnMs);
      // Other work may have taken all of this time: what has arrived meanwhile comes first.
      await this.#loop.next();
    }
    this.#isWatched = false;
    this.#goOn = false;
  }
}

/** What this server records. */
export const recordings = new Recordings();

/**
 * What work has had more than its share, which recordings get in a rest. Work of the loop and of the store is added up, because a recording
 * needs both.
 */
export class Debt {
  readonly #recordings: Recordings;
  readonly #loop: Loop;
  #owedMs = 0;
  #knownMs = 0;

  constructor(of = recordings, loop = NODE) {
    this.#recordings = of;
    this.#loop = loop;
  }

  add(ms: number): void {
    this.#pay();
    this.#owedMs = Math.min(this.#owedMs + ms * restFactor, restMsMax);
  }

  /** Ends early if nothing is recorded any more. */
  async rest(): Promise<void> {
    for (this.#pay(); this.#owedMs >= restMsMin; this.#pay())
      await this.#loop.wait(Math.min(this.#owedMs, goesOnMs));
  }

  #pay(): void {
    const nowMs = this.#loop.nowMs();
    this.#owedMs = this.#recordings.goOn ? Math.max(0, this.#owedMs - (nowMs - this.#knownMs)) : 0;
    this.#knownMs = nowMs;
  }
}

const debt = new Debt();

/** The event loop: the requests that do not record, and the steps of long ones, first come, first served. */
export class LoopShare {
  readonly #recordings: Recordings;
  readonly #loop: Loop;
  readonly #debt: Debt;
  #waiting: { readonly isRequest: boolean; readonly go: () => void }[] = [];
  #isRunning = false;
  /** How many requests begin in a turn. */
  #requests = 1;

  constructor(owed = debt, of = recordings, loop = NODE) {
    this.#debt = owed;
    this.#recordings = of;
    this.#loop = loop;
  }

  /** How many wait. */
  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves when a request may begin. Undefined: at once. `inProgress` is the number of requests in progress, including this one. */
  begin(inProgress = 0): Promise<void> | undefined {
    const mayBegin = !this.#recordings.goOn && !this.#isRunning && inProgress <= uncrowdedMax;
    return mayBegin ? undefined : this.#wait(true);
  }

  /** Resolves when the next step of a long request may begin. */
  step(): Promise<void> {
    return this.#recordings.goOn ? this.#wait(false) : this.#loop.next();
  }

  #wait(isRequest: boolean): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ isRequest, go });
      if (this.#isRunning) return;
      this.#isRunning = true;
      void this.#letThrough();
    });
  }

  async #letThrough(): Promise<void> {
    const { next, nowMs } = this.#loop;
    do {
      await this.#debt.rest();
      const beginMs = nowMs();
      for (const { go } of this.#waiting.splice(0, this.#portion())) go();
      // While something waits for its turn, the loop never waits: all of this time is work.
      for (let turn = 0; turn < loopTurns; turn++) await next();
      const tookMs = nowMs() - beginMs;
      const [most, msMax] = this.#recordings.goOn
        ? [requestsInTurn, turnMsMax]
        : [idleRequestsInTurn, idleTurnMsMax];
      this.#requests = Math.min(Math.max(1, tookMs > msMax ? this.#requests / 2 : this.#requests * 2), most);
      this.#debt.add(tookMs);
    } while (this.#waiting.length > 0);
    this.#isRunning = false;
  }

  /** Requests up to the next step, or one step. */
  #portion(): number {
    const { length } = this.#waiting;
    const step = this.#waiting.findIndex(({ isRequest }) => !isRequest);
    return Math.max(1, Math.min(step === -1 ? length : step, this.#requests));
  }
}

export const loopShare = new LoopShare();

/** For health checks, which anybody may send: they share, too, but never wait for slower requests. */
export const probeShare = new LoopShare();

/** For requests that are refused. Others must not wait for them, because anybody may send any number of them. */
export const refusalShare = new LoopShare();

/** The store: steps of changes that each keep all recordings waiting, one at a time. */
export class StoreShare {
  readonly #loop: Loop;
  readonly #debt: Debt;
  #last: Promise<unknown> = Promise.resolve();

  constructor(owed = debt, loop = NODE) {
    this.#debt = owed;
    this.#loop = loop;
  }

  /** Takes a step after those before and their rest. */
  take<T>(step: () => Promise<T>): Promise<T> {
    const taken = this.#last.then(async () => {
      await this.#debt.rest();
      const beginMs = this.#loop.nowMs();
      try {
        return await step();
      } finally {
        this.#debt.add(this.#loop.nowMs() - beginMs);
      }
    });
    this.#last = taken.catch(() => {});
    return taken;
  }
}

export const storeShare = new StoreShare();
