import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import type { Store } from '../../../src/storage/ports/store.js';

/** The parts whose calls are noted. */
const WATCHED = ['counts', 'directory', 'history', 'maintenance'] as const;

/** These are used also by jobs of the server that no request began. */
const OTHERS = ['corrections', 'identities', 'ingestion', 'notifications', 'throttles', 'users'] as const;

/** The calls of every part that began with what runs in it. */
export const callsWithin = new AsyncLocalStorage<{ method: string; parameters: readonly unknown[] }[]>();

type Watched = Pick<Store, (typeof WATCHED)[number]>;

type StoreMethod = {
  [Part in keyof Watched]: Exclude<keyof Watched[Part], 'importBatchQueries'>;
}[keyof Watched];

interface StoreCall {
  readonly method: StoreMethod;
  readonly parameters: readonly unknown[];
  /** Settles with the call. */
  readonly result: Promise<unknown>;
}

/** A real store that notes calls, and can be made to wait or fail before it answers. */
export interface WatchedStore {
  readonly store: Store;
  readonly calls: StoreCall[];
  /** Awaited before each call is passed on. If it throws, the call fails with that error. */
  before: (method: StoreMethod) => Promise<void>;
}

export function watchStore(store: Store): WatchedStore {
  const calls: StoreCall[] = [];
  const watchPart = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...parameters: unknown[]) => {
          const method = name as StoreMethod;
          const pass = async (): Promise<unknown> => {
            await watched.before(method);
            return Reflect.apply(value, target, parameters.map(watchGiven));
          };
          const result = pass();
          calls.push({ method, parameters, result });
          callsWithin.getStore()?.push({ method, parameters });
          return result;
        };
      },
    });
  /** The store gives its reads to the function that `readTogether` is called with. */
  const watchGiven = (parameter: unknown): unknown =>
    typeof parameter === 'function'
      ? (given: object) => Reflect.apply(parameter, undefined, [watchPart(given)])
      : parameter;
  const watchOther = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        // What a test has put in the place of a method stays what it is.
        return new Proxy(value, {
          apply: (method, _, parameters: unknown[]) => {
            callsWithin.getStore()?.push({ method: String(name), parameters });
            return Reflect.apply(method, target, parameters);
          },
        });
      },
    });
  const parts = new Map<unknown, unknown>([
    ...WATCHED.map((name) => [name, watchPart(store[name])] as const),
    ...OTHERS.map((name) => [name, watchOther(store[name])] as const),
  ]);
  const watched: WatchedStore = {
    calls,
    before: async () => undefined,
    store: new Proxy(store, {
      get: (target, name) => {
        const value: unknown = parts.get(name) ?? Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
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
