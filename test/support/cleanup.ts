/** What tests leave behind is removed when they are over: behind each test, or behind the last one that shares it. */
import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Cleanup = () => unknown;

/** Where cleanups go while something is made that tests share. */
let shared: Cleanup[] | undefined;

/** Does this when the test is over; of what `sharedByTests` makes, when the last of them is. */
export function whenOver(cleanup: Cleanup): void {
  if (shared === undefined) onTestFinished(async () => void (await cleanup()));
  else shared.push(cleanup);
}

/** Makes something once, before the tests of this file or `describe`, and gives it to each of them. May take as long as hooks do, or so long. */
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
    if (made === undefined) throw new Error('It is made when the tests begin, and not before.');
    return made.value;
  };
}
