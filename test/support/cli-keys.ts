/** What the tests of `caller-stats key` share. */
import type { Place } from './cli-place.js';
import { succeed } from './cli-place.js';

/** What `--json` shows of a key. */
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

/** The same with the key itself, as it is shown when it is made. */
export type CreatedKey = ListedKey & { readonly key: string };

/** Runs a command that must end well, and reads what it prints as JSON. */
export async function jsonOf<T>(place: Place, args: readonly string[]): Promise<T> {
  const { stdout } = await succeed(place.run([...args, '--json']));
  return JSON.parse(stdout) as T;
}

export function keysOf(place: Place): Promise<ListedKey[]> {
  return jsonOf(place, ['key', 'list']);
}

/** Makes a key and gives it with what is kept of it. */
export function createKey(place: Place, name: string, ...args: string[]): Promise<CreatedKey> {
  return jsonOf(place, ['key', 'create', '--name', name, ...args]);
}
