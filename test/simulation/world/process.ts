/** A simulated process: its globals, timers and end. After its end, nothing that it started happens any more. */
import type { Globals } from '../bundle.js';
import { requireReal } from '../bundle.js';
import type { Cancellable, Owner, World } from './world.js';

/** The time of one turn of the event loop without work, and the longest one of one with the work of others. */
const turnMs = 0.01;
const workMs = 10;

export interface Surroundings {
  readonly world: World;
  readonly name: string;
  readonly fetch: Globals['fetch'];
  /** Replaces modules of Node. */
  readonly modules: Readonly<Record<string, unknown>>;
}

interface Timer extends Cancellable {
  isReferenced: boolean;
  ref(): Timer;
  unref(): Timer;
}

export class Process implements Owner {
  readonly name: string;
  alive = true;
  busyUntilMs = 0;
  /** How long it was busy, in total. */
  busyMs = 0;
  /** Requests in progress and referenced timers, which keep it alive. */
  requests = 0;
  readonly globals: Globals;
  readonly #world: World;
  readonly #timers = new Set<Timer>();
  readonly #listeners = new Set<() => void>();
  readonly #ends: (() => void)[] = [];

  constructor(surroundings: Surroundings) {
    const { world, name, fetch, modules } = surroundings;
    this.name = name;
    this.#world = world;
    const wait = (ms: number, _value: undefined, { signal }: { signal?: AbortSignal } = {}) =>
      this.#wait(ms, signal);
    const own: Readonly<Record<string, unknown>> = {
      'node:process': {},
      'node:perf_hooks': { performance: { eventLoopUtilization: () => ({ active: world.nowMs, idle: 0 }) } },
      ...modules,
      'node:timers/promises': { setTimeout: wait },
    };
    const emitter = {
      on: (_event: string, listener: () => void) => void this.#listeners.add(listener),
      off: (_event: string, listener: () => void) => void this.#listeners.delete(listener),
    };
    this.globals = {
      require: (module) => own[module] ?? requireReal(module),
      globalThis: { process: emitter },
      Date: dateOf(world),
      Math: Object.create(Math, { random: { value: () => world.uptoMs(1) } }) as Math,
      fetch,
      setTimeout: (run, ms) => this.#timer(run, Math.max(ms, 1), false),
      clearTimeout: (timer) => this.#clear(timer),
      setInterval: (run, ms) => this.#timer(run, Math.max(ms, 1), true),
      clearInterval: (timer) => this.#clear(timer),
      setImmediate: (run) => void world.after(world.chance(0.1) ? world.uptoMs(workMs) : turnMs, run, this),
      crypto: { randomUUID: () => uuidOf(world) },
      console: { warn: (message) => world.fail(`${name} warns: ${message}`) },
      CompressionStream: undefined,
    };
  }

  /** Does nothing else for a time. */
  block(ms: number): void {
    this.busyUntilMs = Math.max(this.busyUntilMs, this.#world.nowMs) + ms;
    this.busyMs += ms;
  }

  /** Calls this once it has ended. */
  atEnd(callback: () => void): void {
    this.#ends.push(callback);
  }

  end(): void {
    if (!this.alive) return;
    this.alive = false;
    for (const callback of this.#ends) this.#world.after(turnMs, callback);
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** Whether nothing keeps it alive. */
  get isIdle(): boolean {
    return this.requests === 0 && ![...this.#timers].some(({ isReferenced }) => isReferenced);
  }

  /** As Node does before it exits because there is nothing to do. */
  emitBeforeExit(): void {
    for (const listener of this.#listeners) listener();
  }

  #timer(run: () => void, ms: number, repeats: boolean): Timer {
    let event: Cancellable | undefined;
    const timer: Timer = {
      isReferenced: true,
      cancel: () => event?.cancel(),
      ref: () => {
        timer.isReferenced = true;
        return timer;
      },
      unref: () => {
        timer.isReferenced = false;
        return timer;
      },
    };
    const start = (): void => {
      event = this.#world.after(
        ms,
        () => {
          if (repeats) start();
          else this.#timers.delete(timer);
          run();
        },
        this,
      );
    };
    if (!this.alive) return timer;
    this.#timers.add(timer);
    start();
    return timer;
  }

  #clear(timer: unknown): void {
    (timer as Timer | undefined)?.cancel();
    this.#timers.delete(timer as Timer);
  }

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = (): void => {
        this.#clear(timer);
        reject(signal?.reason);
      };
      const end = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const timer = this.#timer(end, Math.max(ms, 1), false);
      signal?.addEventListener('abort', abort);
    });
  }
}

function uuidOf({ random }: World): string {
  const digits = Array.from({ length: 32 }, () => random.int(16).toString(16)).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** `Date` with the simulated time as the current one. */
function dateOf(world: World): DateConstructor {
  class SimulatedDate extends Date {
    constructor(value: number = Math.floor(world.nowMs)) {
      super(value);
    }

    static override now(): number {
      return Math.floor(world.nowMs);
    }
  }
  return SimulatedDate as unknown as DateConstructor;
}
