import { CallerStatsError } from '../../domain/errors.js';
import { locationOf, nameOfStore, type OpenOptions, openStore } from '../../storage/open.js';
import type { Store } from '../../storage/ports/store.js';

/** The source or the target of a copy. Its errors begin with its name. */
export interface Side {
  /** Without a password. */
  readonly name: string;
  readonly ask: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
}

/** Opens a store, runs `work`, and closes it. Errors begin with `role` and the store's name. */
export async function withSide<T>(
  role: 'source' | 'target',
  url: string,
  options: OpenOptions,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const name = nameOfStore(locationOf(url));
  const named = <R>(asked: Promise<R>): Promise<R> =>
    asked.catch((error) => Promise.reject(withName(`${role} ${name}`, error)));
  const store = await named(openStore(url, options));
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

/** How many were created in the target, and how many existed already. */
export interface Tally {
  copied: number;
  present: number;
}

/** Returns false if it exists already. */
export async function createUnlessTaken(create: () => Promise<unknown>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (error instanceof CallerStatsError && error.code === 'already_exists') return false;
    throw error;
  }
}
