import { type OpenOptions, openStore } from '../storage/open.js';
import type { Store } from '../storage/store.js';

/** Opens the store, works with it, and closes it whatever happens. */
export async function withStore<T>(
  database: string,
  options: OpenOptions,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(database, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** For commands that only make sense on a store that is there. */
export const existing: OpenOptions = { mustExist: true };
