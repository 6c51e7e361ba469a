import { openWithSettings } from '../../cli/open-store.js';
import type { StoreSettings } from '../../cli/settings/settings.js';
import { CallerStatsError } from '../../domain/errors.js';
import { locationOf, nameOfStore, type OpenOptions } from '../../storage/open.js';
import type { Store } from '../../storage/ports/store.js';

/** One of the two stores of a copy. Its errors begin with its name, for the same may befall either. */
export interface Side {
  /** Without a password. */
  readonly name: string;
  readonly ask: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
}

/** Opens a side, works with it, and closes it whatever happens. `role` stands before its name in errors. */
export async function withSide<T>(
  role: 'source' | 'target',
  settings: StoreSettings,
  options: OpenOptions,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const name = nameOfStore(locationOf(settings.database));
  const named = <R>(asked: Promise<R>): Promise<R> =>
    asked.catch((error) => Promise.reject(withName(`${role} ${name}`, error)));
  const store = await named(openWithSettings(settings, options));
  try {
    return await work({ name, ask: (use) => named(use(store)) });
  } finally {
    await named(store.close());
  }
}

function withName(name: string, error: unknown): unknown {
  if (!(error instanceof CallerStatsError)) return error;
  const { code, message, details, cause } = error;
  return new CallerStatsError(code, `${name}: ${message}`, { details, cause });
}
