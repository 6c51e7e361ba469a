/** Cleans up after each test, or after the last test that shares something. */
import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Cleanup = () => unknown;

/** Collects cleanups while `sharedByTests` creates something. */
let shared: Cleanup[] | undefined;

/** Runs a cleanup after the test or, within `sharedByTests`, after the last test that shares the value. */
export function whenOver(cleanup: Cleanup): void {
  if (shared === undefined) onTestFinished(async () => void (await cleanup()));
  else shared.push(cleanup);
}

/** Creates a value once for all tests of a file or `describe`. The timeout is that of hooks unless given. */
export function sharedByTests<T>(make: () => Promise<T>, timeoutMs?: number): () => T {
  const cleanups: Cleanup[] = [];
  let made: { readonly value: T } | undefined;
  beforeAll(async () => {
    shared = cleanups;
    try {
      made = { value: await make() };
    } finally {
      shared = undefined;
    }
  }, timeoutMs);
  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });
  return () => {
    if (made === undefined) throw new Error('The value is created when the tests start.');
    return made.value;
  };
}
