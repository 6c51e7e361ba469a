/** Work in steps, each of about a millisecond. */
export type Steps<T> = Generator<void, T>;

/** As many are made in about a millisecond. */
const itemsInStep = 500;

/** What `map` returns. */
export function* mapInSteps<T, Result>(
  items: readonly T[],
  toResult: (item: T, at: number) => Result,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    results.push(toResult(item, at));
    if (at % itemsInStep === itemsInStep - 1) yield;
  }
  return results;
}

/** Takes all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
