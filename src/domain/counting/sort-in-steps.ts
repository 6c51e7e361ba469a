import type { Steps } from '../../shared/steps.js';

/** As many are sorted or merged in about a millisecond. */
const itemsInStep = 1_000;

/** Sorts as `toSorted`, in steps: short runs first, and then two runs at a time become one. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += itemsInStep) {
    runs.push(items.slice(at, at + itemsInStep).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(first: readonly T[], second: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  const merged: T[] = [];
  let taken = 0;
  for (const [at, one] of first.entries()) {
    for (let next = second[taken]; next !== undefined && compare(next, one) < 0; next = second[++taken])
      merged.push(next);
    merged.push(one);
    if (at % itemsInStep === itemsInStep - 1) yield;
  }
  return merged.concat(second.slice(taken));
}
