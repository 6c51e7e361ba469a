import { EventEmitter, once } from 'node:events';
import type { Store } from '../../../src/storage/ports/store.js';

/** What has methods of its own. */
const PASSED_ON = ['userTables', 'throttles', 'questions', 'ingestion', 'notifications'] as const;

type PassedOn = (typeof PASSED_ON)[number];

type StoreMethod = Exclude<keyof Store, PassedOn>;

interface StoreCall {
  readonly method: StoreMethod;
  readonly parameters: readonly unknown[];
  /** Settles with the call. */
  readonly result: Promise<unknown>;
}

/** A real store that notes all calls but those about users, and can be made to wait or fail before it answers. */
export interface WatchedStore {
  readonly store: Store;
  readonly calls: StoreCall[];
  /** Awaited before each call is passed on. If it throws, the call fails with that error. */
  before: (method: StoreMethod) => Promise<void>;
}

export function watchStore(store: Store): WatchedStore {
  const calls: StoreCall[] = [];
  const pass = async (method: StoreMethod, parameters: readonly unknown[]): Promise<unknown> => {
    await watched.before(method);
    return Reflect.apply(store[method] as (...parameters: unknown[]) => unknown, store, parameters);
  };
  const watched: WatchedStore = {
    calls,
    before: async () => undefined,
    store: new Proxy(store, {
      get: (target, name) => {
        if (isPassedOn(name)) return target[name];
        return (...parameters: unknown[]) => {
          const method = name as StoreMethod;
          const result = pass(method, parameters);
          calls.push({ method, parameters, result });
          return result;
        };
      },
    }),
  };
  return watched;
}

/** Delays calls of a method of the store until `release`. */
export function holdCalls({ watched }: { readonly watched: WatchedStore }, held: StoreMethod) {
  const gate = new EventEmitter();
  let isHeld = true;
  let waiting = 0;
  watched.before = async (method) => {
    if (method !== held || !isHeld) return;
    waiting++;
    gate.emit('reached');
    await once(gate, 'release');
  };
  return {
    /** Resolves when so many calls are waiting. */
    reached: async (count = 1) => {
      while (waiting < count) await once(gate, 'reached');
    },
    release: () => {
      isHeld = false;
      gate.emit('release');
    },
  };
}

function isPassedOn(name: string | symbol): name is PassedOn {
  return PASSED_ON.some((one) => one === name);
}
