/**
 * Switches asynchronous storages off while nothing uses them. Before Node 24, one that has been used once slows every promise of
 * the process for good: an export takes 40 % more processor time after the first sign-in.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

type Storage = Pick<AsyncLocalStorage<unknown>, 'disable'>;

/** The sign-in library keeps its storages here, one of each for all instances. */
const LIBRARY = Symbol.for('better-auth:global');

const used = new Set<Storage>();
let running = 0;

/** Runs work that uses the storages of the sign-in library, or `own`. Work at the same time keeps its storages. */
export async function withStorages<T>(work: () => Promise<T>, own: readonly Storage[] = []): Promise<T> {
  for (const storage of own) used.add(storage);
  running++;
  try {
    return await work();
  } finally {
    running--;
    if (running === 0) for (const storage of [...used, ...libraryStorages()]) storage.disable();
  }
}

function libraryStorages(): Storage[] {
  const library = (globalThis as { [LIBRARY]?: { readonly context?: object } })[LIBRARY];
  return Object.values(library?.context ?? {}).filter((value) => value instanceof AsyncLocalStorage);
}
