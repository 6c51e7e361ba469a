/** All that the client asks of where it runs. Tests hand in their own; nobody else needs to. */
export interface Platform {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  readonly now: () => number;
  /** At least 0, below 1. */
  readonly random: () => number;
  /** Gives what `clearTimeout` takes; where it has `ref` and `unref` as Node's, they are used. */
  readonly setTimeout: (run: () => void, ms: number) => unknown;
  readonly clearTimeout: (timer: never) => void;
}

/** Looked up with each use, so that what instruments or replaces a global later holds here, too. */
export const platform: Platform = {
  fetch: (url, init) => fetch(url, init),
  now: () => Date.now(),
  random: () => Math.random(),
  setTimeout: (run, ms) => setTimeout(run, ms),
  clearTimeout: (timer) => clearTimeout(timer),
};
