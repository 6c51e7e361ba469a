/** What a recorder or reader runs on in tests: a clock that moves when it is told to, and a `fetch` that a test answers. */
import type { Platform } from '../../client/src/platform.js';

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/** Steps of `until`; far more than anything takes. */
const stepsMax = 100_000;

export class TestPlatform implements Platform {
  readonly fetch: Platform['fetch'];
  nowMs = Date.UTC(2026, 0, 1);
  chance = 0.5;
  /** How long each wait was for, in milliseconds. */
  readonly waits: number[] = [];
  readonly #timers = new Set<Due>();

  constructor(fetch: Platform['fetch']) {
    this.fetch = fetch;
  }

  readonly now = (): number => this.nowMs;
  readonly random = (): number => this.chance;
  readonly setTimeout = (run: () => void, ms: number): Due => {
    const timer = { atMs: this.nowMs + ms, run };
    this.waits.push(ms);
    this.#timers.add(timer);
    return timer;
  };
  readonly clearTimeout = (timer: Due): void => void this.#timers.delete(timer);

  /** Lets everything happen that waits for no time to pass. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock to the next timer, and runs it; gives whether there was one. */
  async step(): Promise<boolean> {
    await this.settle();
    const next = [...this.#timers].reduce<Due | undefined>(
      (first, timer) => (first === undefined || timer.atMs < first.atMs ? timer : first),
      undefined,
    );
    if (next === undefined) return false;
    this.#timers.delete(next);
    this.nowMs = Math.max(this.nowMs, next.atMs);
    next.run();
    await this.settle();
    return true;
  }

  /** Lets time pass until this resolves. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let over = false;
    const done = promise.finally(() => {
      over = true;
    });
    for (let steps = 0; steps < stepsMax; steps++) {
      await this.settle();
      if (over) return done;
      if (!(await this.step())) break;
    }
    await this.settle();
    if (over) return done;
    throw new Error('it waits for nothing that could still happen');
  }
}

/** A JSON answer. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

/** Rejects as a platform's `fetch` does when it is told to stop; never answers otherwise. */
export function never(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
