/** Helpers for tests of keys, which run commands with `--json`. */
import type { Place } from './cli-place.js';
import { succeed } from './cli-place.js';

/** A key as `--json` prints it. */
export interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly disabledAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly successor: string | null;
}

/** A new key, including its secret. */
export type CreatedKey = ListedKey & { readonly key: string };

/** Runs a command, which must succeed, and returns its JSON. */
export async function jsonOf<T>(place: Place, args: readonly string[]): Promise<T> {
  const { stdout } = await succeed(place.run([...args, '--json']));
  return JSON.parse(stdout) as T;
}

export function keysOf(place: Place): Promise<ListedKey[]> {
  return jsonOf(place, ['key', 'list']);
}

/** Creates a key. */
export function createKey(place: Place, name: string, ...args: string[]): Promise<CreatedKey> {
  return jsonOf(place, ['key', 'create', '--name', name, ...args]);
}
