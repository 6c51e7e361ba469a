import { CallerStatsError } from '../../domain/errors.js';
import { locationOf, nameOfStore, type OpenOptions, openStore } from '../../storage/open.js';
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

/** How many of a kind were made at the target, and how many were there already. */
export interface Tally {
  copied: number;
  present: number;
}

/** Whether it was made; false where there is one already. */
export async function createUnlessTaken(create: () => Promise<void>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (error instanceof CallerStatsError && error.code === 'already_exists') return false;
    throw error;
  }
}
