/** The API keys of a run, which commands create and change while servers run. */

import type { Draw } from './draw.js';

type State = 'works' | 'disabled' | 'revoked' | 'changing';

interface Key {
  readonly id: string;
  readonly value: string;
  state: State;
  /** A key has one successor. */
  rotated: boolean;
  /** Goes up with every change. */
  changes: number;
}

/** Runs commands on the database under test. */
interface Commands {
  succeed(args: readonly string[]): Promise<{ readonly stdout: string }>;
}

/** A key as it was at the start of a request. */
export interface UsedKey {
  readonly value: string;
  /** Whether a response may have this status. */
  readonly fits: (status: number | string) => boolean;
}

/** The number of keys that are never changed. */
const steady = 2;

export class KeyRing {
  #keys: Key[] = [];
  /** The number of changes. */
  changes = 0;

  /** A copy that can be changed independently. */
  copy(): KeyRing {
    const ring = new KeyRing();
    ring.#keys = this.#keys.map((key) => ({ ...key }));
    return ring;
  }

  async create(world: Commands, name: string): Promise<void> {
    const { stdout } = await world.succeed(['key', 'create', '--name', name, '--expires', 'never', '--json']);
    this.#add(stdout);
  }

  /** Any key. Most are steady ones, which work. */
  any(turn: number): UsedKey {
    const often = 8;
    return this.#used(turn % often === 0 ? (turn / often) % this.#keys.length : turn % steady);
  }

  /** A key that works. */
  steady(turn: number): UsedKey {
    return this.#used(turn % steady);
  }

  #used(at: number): UsedKey {
    const key = this.#keys[at];
    if (key === undefined) throw new Error('there is no key');
    const { state, changes } = key;
    return {
      value: key.value,
      fits: (status) => {
        if (key.changes !== changes || state === 'changing' || typeof status !== 'number') return true;
        // A server that cannot look up a key returns 5xx.
        return status >= 500 || (status === 401) === (state !== 'works');
      },
    };
  }

  /** Creates, rotates, disables, enables or revokes a key, which takes effect with the next request. */
  async change(world: Commands, draw: Draw): Promise<void> {
    const key = draw.pick(this.#keys.slice(steady));
    const changes = key.state === 'disabled' ? ['enable', 'revoke'] : ['disable', 'revoke', 'create'];
    if (key.state === 'works' && !key.rotated) changes.push('rotate');
    await this.#change(world, key, key.state === 'revoked' ? 'create' : draw.pick(changes));
    this.changes++;
  }

  async #change(world: Commands, key: Key, command: string): Promise<void> {
    if (command === 'create') await this.create(world, `key ${this.#keys.length}`);
    else if (command === 'rotate') await this.#rotate(world, key);
    else if (command === 'revoke') await this.#set(world, key, command, 'revoked');
    else if (command === 'disable') await this.#set(world, key, command, 'disabled');
    else await this.#set(world, key, command, 'works');
  }

  async #rotate(world: Commands, key: Key): Promise<void> {
    key.rotated = true;
    // The grace period is longer than any shift of a clock.
    this.#add((await world.succeed(['key', 'rotate', key.id, '--grace', '30d', '--json'])).stdout);
  }

  async #set(world: Commands, key: Key, command: string, state: State): Promise<void> {
    key.state = 'changing';
    key.changes++;
    await world.succeed(['key', command, key.id]);
    key.state = state;
    key.changes++;
  }

  #add(printed: string): void {
    const { id, key } = JSON.parse(printed) as { id: string; key: string };
    this.#keys.push({ id, value: key, state: 'works', rotated: false, changes: 0 });
  }
}
