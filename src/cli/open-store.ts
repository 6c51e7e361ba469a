import { type OpenOptions, openStore } from '../storage/open.js';
import type { Store } from '../storage/ports/store.js';
import type { StoreSettings } from './settings/settings.js';

/** Opens the store, works with it, and closes it whatever happens. */
export async function withStore<T>(
  settings: StoreSettings,
  options: OpenOptions,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openWithSettings(settings, options);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Opens the store that the settings name. */
export function openWithSettings(
  { database, databaseConnectionsMax, databaseTimeoutMs }: StoreSettings,
  options: OpenOptions,
): Promise<Store> {
  return openStore(database, {
    connectionsMax: databaseConnectionsMax,
    timeoutMs: databaseTimeoutMs,
    ...options,
  });
}

/** For commands that only make sense on a store that is there. */
export const existing: OpenOptions = { mustExist: true };
