import type { Transport } from '../../../src/shared/api-client.js';

/** The platform functions that the client uses. Only tests need to replace them. */
export interface Platform extends Transport {
  /** At least 0, below 1. */
  readonly random: () => number;
  readonly startTimer: (run: () => void, ms: number) => Timer;
  /** Whether timers and requests end with the request that started them, as in Cloudflare's workers. */
  readonly isRequestBound: boolean;
  /** Tells the operator of a problem that would otherwise go unnoticed. */
  readonly warn: (message: string) => void;
}

interface Timer {
  readonly stop: () => void;
  /** Says whether the timer keeps the process running. Only Node's and Bun's can; the others never do. */
  readonly keepAlive: (keeps: boolean) => void;
}

interface Navigating {
  readonly navigator?: { readonly userAgent?: string };
}

/** Looks each global up when it is called, because instrumentation may replace it later. */
export const platform: Platform = {
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  random: () => Math.random(),
  startTimer: (run, ms) => {
    const timer = setTimeout(run, ms);
    return { stop: () => clearTimeout(timer), keepAlive: (keeps) => timer[keeps ? 'ref' : 'unref']?.() };
  },
  get isRequestBound() {
    return (globalThis as Navigating).navigator?.userAgent === 'Cloudflare-Workers';
  },
  warn: (message) => console.warn(message),
};

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
      this.#timer = this.#platform.startTimer(() => this.end(), ms);
      if (!keepAlive) this.#timer.keepAlive(false);
    });
  }

  /** Makes the current timer keep the process running. */
  keepAlive(): void {
    this.#timer?.keepAlive(true);
  }

  /** Ends the current wait. */
  end(): void {
    this.#timer?.stop();
    this.#timer = undefined;
    this.#resolve?.();
  }
}
