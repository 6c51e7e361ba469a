import type { Transport } from '../../src/shared/api-client.js';

/** The platform functions that the client uses. Only tests need to replace them. */
export interface Platform extends Transport {
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Returns a handle for `clearTimeout`. If it has `ref` and `unref`, as in Node, they are used. */
  readonly setTimeout: (run: () => void, ms: number) => unknown;
  readonly clearTimeout: (timer: never) => void;
  /** Whether timers and requests end with the request that started them, as in Cloudflare's workers. */
  readonly isRequestBound: boolean;
  /** Tells the operator of a problem that would otherwise go unnoticed. */
  readonly warn: (message: string) => void;
}

interface Navigating {
  readonly navigator?: { readonly userAgent?: string };
}

/** Looks each global up when it is called, because instrumentation may replace it later. */
export const platform: Platform = {
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  random: () => Math.random(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer),
  isRequestBound: (globalThis as Navigating).navigator?.userAgent === 'Cloudflare-Workers',
  warn: (message) => console.warn(message),
};

/** A timer of Node; other platforms use numbers. */
interface Timer {
  ref?: () => void;
  unref?: () => void;
}

/** A delay that can be ended early. Supports one `wait` at a time. */
export class Pause {
  readonly #platform: Platform;
  #timer: Timer | undefined;
  #resolve: (() => void) | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** @param keepAlive whether the timer keeps the process running */
  wait(ms: number, keepAlive: boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = this.#platform.setTimeout(() => this.end(), ms) as Timer;
      if (!keepAlive) this.#timer.unref?.();
    });
  }

  /** Makes the current timer keep the process running. */
  keepAlive(): void {
    this.#timer?.ref?.();
  }

  /** Ends the current wait. */
  end(): void {
    this.#platform.clearTimeout(this.#timer as never);
    this.#timer = undefined;
    this.#resolve?.();
  }
}
