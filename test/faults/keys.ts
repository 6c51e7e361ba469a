/** API keys of a run: made and changed by the command line beside servers, and held to what was said of them. */

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

/** Who runs commands on the database under test. */
interface Commands {
  succeed(args: readonly string[]): Promise<{ readonly stdout: string }>;
}

/** A key as it was when a request began. */
export interface UsedKey {
  readonly value: string;
  /** Whether an answer of this status is right, by what was known all the time until it came. */
  readonly fits: (status: number | string) => boolean;
}

/** Keys that are never changed, so that there is always one that works. */
const steady = 2;

export class KeyRing {
  #keys: Key[] = [];
  /** Changes that were made. */
  changes = 0;

  /** The same keys, to be changed elsewhere. */
  copy(): KeyRing {
    const ring = new KeyRing();
    ring.#keys = this.#keys.map((key) => ({ ...key }));
    return ring;
  }

  async create(world: Commands, name: string): Promise<void> {
    const { stdout } = await world.succeed(['key', 'create', '--name', name, '--expires', 'never', '--json']);
    this.#add(stdout);
  }

  /** One of all keys, those that do not work among them, though seldom. */
  any(turn: number): UsedKey {
    const often = 8;
    return this.#used(turn % often === 0 ? (turn / often) % this.#keys.length : turn % steady);
  }

  /** One that works. */
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
        // A server that cannot look a key up says so.
        return status >= 500 || (status === 401) === (state !== 'works');
      },
    };
  }

  /** Makes, rotates, disables, enables or revokes a key. It holds from the next request on. */
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
    // The old key goes on for longer than any clock of a run is wrong.
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
