import { BoundedCache } from '../shared/bounded-cache.js';
import type { Store } from '../storage/ports/store.js';

/** A chart of a year by day has 42,000 characters. */
const textsMax = 20;
const textLengthMax = 200_000;

/**
 * The texts of large responses, which take much longer to write than to count. Each is kept until anything is committed, so
 * none is older than a new one would be. Stores that cannot tell create each text anew.
 */
export class UnchangedTexts {
  readonly #store: Pick<Store, 'readSync'>;
  readonly #texts = new BoundedCache<string, string>(textsMax);
  #version: number | undefined;

  constructor(store: Pick<Store, 'readSync'>) {
    this.#store = store;
  }

  /** `question` determines the text, together with the store. */
  async get(question: object, create: () => Promise<string>): Promise<string> {
    // Read first: a text that counts a later commit is then kept for a version that has passed, which nobody gets.
    const version = this.#store.readSync?.((reads) => reads.version);
    if (version === undefined) return create();
    if (version !== this.#version) this.#texts.clear();
    this.#version = version;
    const key = JSON.stringify(question);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const text = await create();
    if (version === this.#version && text.length <= textLengthMax) this.#texts.set(key, text);
    return text;
  }
}
