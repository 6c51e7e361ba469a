import type { Applied, QueryState } from './state.js';

/**
 * The state of a query while corrections are added in their order and taken back in any: what `correct` makes of it by those that are
 * there, without going through all of them each time, because there may be thousands.
 */
export class Effect {
  readonly #caller: string;
  readonly #places = new Map<number, number>();
  /** In their order; undefined where one was taken back. */
  readonly #applied: (Applied | undefined)[] = [];
  /** Where to look next for a rename before each place. */
  readonly #before: number[] = [];
  #withdrawal = 0;

  /** `caller` is the one for which the query counted before all of them. */
  constructor(caller: string) {
    this.#caller = caller;
  }

  add(number: number, applied: Applied): void {
    const place = this.#applied.push(applied) - 1;
    this.#before.push(place - 1);
    this.#places.set(number, place);
  }

  remove(number: number): void {
    const place = this.#places.get(number);
    if (place !== undefined) this.#applied[place] = undefined;
  }

  state(): QueryState {
    const applied = this.#applied;
    // The first withdrawal hides all that come later. Additions come last, so the first one only moves on.
    while (this.#withdrawal < applied.length && applied[this.#withdrawal]?.action !== 'withdraw')
      this.#withdrawal++;
    const rename = applied[this.#renameBefore(this.#withdrawal)];
    return { caller: rename?.to ?? this.#caller, isWithdrawn: this.#withdrawal < applied.length };
  }

  /** The place of the last rename before another place; -1 if there is none. */
  #renameBefore(place: number): number {
    const passed: number[] = [];
    let at = place - 1;
    while (at >= 0 && this.#applied[at]?.to === undefined) {
      passed.push(at);
      at = this.#before[at] ?? -1;
    }
    // What is passed stays without a rename, so that it need not be passed again.
    for (const one of passed) this.#before[one] = at;
    return at;
  }
}
