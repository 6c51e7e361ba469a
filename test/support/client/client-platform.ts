/** A platform for recorders and readers whose clock and `fetch` a test controls. */
import type { Platform } from '../../../clients/javascript/src/platform.js';

interface Due {
  readonly atMs: number;
  readonly run: () => void;
}

/** The most steps of `until`. */
const stepsMax = 100_000;

export class TestPlatform implements Platform {
  readonly fetch: Platform['fetch'];
  readonly isRequestBound: boolean;
  nowMs = Date.UTC(2026, 0, 1);
  chance = 0.5;
  /** The milliseconds of each timer. */
  readonly waits: number[] = [];
  readonly warnings: string[] = [];
  readonly #timers = new Set<Due>();

  constructor(fetch: Platform['fetch'], isRequestBound = false) {
    this.fetch = fetch;
    this.isRequestBound = isRequestBound;
  }

  readonly now = (): number => this.nowMs;
  readonly random = (): number => this.chance;
  readonly startTimer: Platform['startTimer'] = (run, ms) => {
    const timer = { atMs: this.nowMs + ms, run };
    this.waits.push(ms);
    this.#timers.add(timer);
    return { stop: () => void this.#timers.delete(timer), keepAlive: () => {} };
  };
  readonly warn = (message: string): void => void this.warnings.push(message);

  /** Waits for everything that does not depend on timers. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock to the next timer and runs it. Returns whether there was one. */
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

  /** Lets time pass until a promise is settled. */
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
    throw new Error('the promise waits for no timer');
  }
}

/** A JSON response. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

/** A `fetch` without a response, which rejects when it is aborted. */
export function never(signal: AbortSignal | null | undefined): Promise<Response> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}
