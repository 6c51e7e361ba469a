/** A map of at most `entriesMax` entries. Adding one more drops all of them first, which costs nothing per look-up. */
export class BoundedCache<Key, Value> {
  readonly #entriesMax: number;
  readonly #entries = new Map<Key, Value>();

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  set(key: Key, value: Value): void {
    if (this.#entries.size >= this.#entriesMax && !this.#entries.has(key)) this.#entries.clear();
    this.#entries.set(key, value);
  }

  /** The cached value, or the one that `create` returns, which is cached from then on. */
  getOrCreate(key: Key, create: () => Value): Value {
    const cached = this.#entries.get(key);
    if (cached !== undefined || this.#entries.has(key)) return cached as Value;
    const value = create();
    this.set(key, value);
    return value;
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }
}
