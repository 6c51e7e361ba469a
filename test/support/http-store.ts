import type { Store } from '../../src/storage/ports/store.js';

type StoreMethod = Exclude<keyof Store, 'userTables' | 'throttles' | 'readSync'>;

interface StoreCall {
  readonly method: StoreMethod;
  readonly parameters: readonly unknown[];
  /** Settles with the call. */
  readonly result: Promise<unknown>;
}

/** A real store that writes down what is asked of it but for people, and can be made to wait or fail before it answers. */
export interface WatchedStore {
  readonly store: Store;
  readonly calls: StoreCall[];
  /** Awaited before each call is passed on; what it throws, the call throws. */
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
        if (name === 'userTables' || name === 'throttles' || name === 'readSync') return target[name];
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
