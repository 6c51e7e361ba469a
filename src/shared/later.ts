/** Code that is loaded when it is first needed. A server loads it as soon as it listens, so that requests need not wait for it. */
import { nextTurn } from './pauses.js';

const loads: (() => Promise<unknown>)[] = [];

/** Resolves when the last load has had its turn of the event loop. */
let lastTurn: Promise<unknown> = Promise.resolve();

/** Loads once, unless that fails. Call it when the module is loaded, so that `loadAll` knows of it. */
export function later<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const forget = (error: Error): never => {
    loading = undefined;
    throw error;
  };
  const once = () => (loading ??= inOwnTurn(load).catch(forget));
  loads.push(once);
  return once;
}

/** Loads what is not loaded yet, one after another, with other work in between. */
export async function loadAll(): Promise<void> {
  for (const load of loads) await load();
}

/** Neither other loads nor what waits for them share its turn. */
function inOwnTurn<T>(load: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(nextTurn).then(load).finally(nextTurn);
  lastTurn = turn.catch(() => undefined);
  return turn;
}
