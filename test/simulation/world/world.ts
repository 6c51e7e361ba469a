/**
 * The simulated clock and its event queue. One seed determines everything: which event comes next depends only on the events
 * before it. An event ends when all promises have settled that do not wait for another event.
 */
import { Random } from '../../fuzz/random.js';

interface Event {
  readonly atMs: number;
  readonly number: number;
  readonly owner: Owner | undefined;
  /** Undefined once it is cancelled. */
  run: (() => void) | undefined;
}

/** Who an event belongs to: it does not happen after the owner's end, and waits while the owner is busy. */
export interface Owner {
  readonly name: string;
  readonly alive: boolean;
  readonly busyUntilMs: number;
}

export interface Cancellable {
  cancel(): void;
}

/** More events mean that something is repeated without end. */
const eventsMax = 60_000;

export class World {
  readonly random: Random;
  nowMs = Date.UTC(2026, 0, 1);
  /** What is wrong. The run ends with the first problem. */
  readonly problems: string[] = [];
  /** Checks that run after every event. */
  readonly checks: (() => void)[] = [];
  readonly trace: string[] | undefined;
  events = 0;
  /** Queries that must be counted, at the end. */
  promises = 0;
  readonly #queue: Event[] = [];
  #numbers = 0;

  constructor(seed: number, { traced }: { readonly traced: boolean }) {
    this.random = new Random(0, seed);
    this.trace = traced ? [] : undefined;
  }

  note(text: string): void {
    this.trace?.push(`${this.nowMs.toFixed(3)} ${text}`);
  }

  fail(problem: string): void {
    this.note(`PROBLEM ${problem}`);
    this.problems.push(problem);
  }

  /** A random number of milliseconds below `ms`, which is rarely the same as another one. */
  uptoMs(ms: number): number {
    return (this.random.int(2 ** 20) / 2 ** 20) * ms;
  }

  chance(probability: number): boolean {
    return probability > 0 && this.random.int(2 ** 20) < probability * 2 ** 20;
  }

  after(delayMs: number, run: () => void, owner?: Owner): Cancellable {
    const event: Event = { atMs: this.nowMs + delayMs, number: this.#numbers++, owner, run };
    push(this.#queue, event);
    return {
      cancel: () => {
        event.run = undefined;
      },
    };
  }

  delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve));
  }

  /** Runs events until `isOver`, or until there are none before `endMs`. Returns whether `isOver`. */
  async run(endMs: number, isOver: () => boolean = () => false): Promise<boolean> {
    while (this.problems.length === 0 && !isOver()) {
      const next = this.#queue[0];
      if (next === undefined || next.atMs > endMs) return isOver();
      pop(this.#queue);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      this.#happen(next);
      // Promises settle before the next turn of the real event loop.
      await new Promise((resolve) => setImmediate(resolve));
      for (const check of this.checks) check();
      if (++this.events > eventsMax) this.fail('the simulation does not come to rest');
    }
    return isOver();
  }

  #happen(event: Event): void {
    const { run, owner } = event;
    if (run === undefined || owner?.alive === false) return;
    if (owner !== undefined && owner.busyUntilMs > this.nowMs) {
      push(this.#queue, { ...event, atMs: owner.busyUntilMs, run: () => event.run?.() });
      return;
    }
    try {
      run();
    } catch (error) {
      this.fail(`${owner?.name ?? 'an event'} threw ${(error as Error).stack}`);
    }
  }
}

const isBefore = (a: Event, b: Event): boolean =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number);

/** A binary heap: each event is not before its parent, at half of its index. */
function push(heap: Event[], event: Event): void {
  let at = heap.length;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent] as Event;
    if (!isBefore(event, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Event[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left === undefined) break;
    if (right !== undefined && isBefore(right, left)) child++;
    const first = heap[child] as Event;
    if (!isBefore(first, last)) break;
    heap[at] = first;
    at = child;
  }
  heap[at] = last;
}
