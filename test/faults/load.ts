/** Senders and readers that keep servers busy during faults. */
import { WatchedLoad } from '../support/storage/watched-load.js';
import type { Draw } from './draw.js';
import { type Delivery, deliveryOf } from './plan.js';
import type { World } from './world.js';

/** Consecutive failures that end the run, because the service does not recover. */
const failuresMax = 100_000;

const senders = 4;
const readers = 1;

export class Load {
  readonly #world: World;
  readonly #draw: Draw;
  readonly #again: Delivery[] = [];
  readonly #watched: WatchedLoad;
  readonly #acknowledgedMost: number;
  #number: number;
  #repeats = 0;
  #stopping = false;
  /** Successful requests. */
  answered = 0;
  /** Failed requests. */
  failed = 0;
  /** Recordings in progress. */
  inFlight = 0;
  /** Failures since the last acknowledgement. */
  #inRow = 0;

  constructor(world: World, draw: Draw, { from = 0, queriesMax = Number.POSITIVE_INFINITY } = {}) {
    this.#world = world;
    this.#draw = draw;
    this.#number = from;
    this.#acknowledgedMost = world.acknowledged + queriesMax;
    const work = [
      ...Array.from({ length: senders }, (_, sender) => this.#send(sender)),
      ...Array.from({ length: readers }, (_, reader) => this.#read(reader)),
    ];
    this.#watched = new WatchedLoad(Promise.all(work));
  }

  /** The number of the first delivery that was not started. */
  get next(): number {
    return this.#number;
  }

  /** Waits until `holds` returns true. Rejects if the load fails. */
  until(holds: () => boolean): Promise<void> {
    return this.#watched.until(holds);
  }

  /** Waits for this many more successful requests. */
  progress(answers: number): Promise<void> {
    const goal = this.answered + answers;
    return this.until(() => this.answered >= goal);
  }

  /** Waits for this many more acknowledged queries. */
  acknowledged(queries: number): Promise<void> {
    const goal = this.#world.acknowledged + queries;
    return this.until(() => this.#world.acknowledged >= goal);
  }

  /** Stops the load and waits for requests in progress. There must be a server. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await this.#watched.end();
  }

  async #send(sender: number): Promise<void> {
    for (let turn = sender; !this.#stopping; turn++) {
      const delivery = this.#again.shift() ?? this.#nextDelivery();
      const node = await this.#world.node(turn);
      this.inFlight++;
      const status = await this.#world.deliver(node, delivery);
      this.inFlight--;
      this.#note(status === 200);
      // Some are never sent again, so that only reading shows whether they were recorded.
      if (status !== 200 && turn % 8 !== 7) this.#again.push(delivery);
    }
  }

  async #read(reader: number): Promise<void> {
    for (let turn = reader; !this.#stopping; turn++) {
      const node = await this.#world.node(turn);
      const counts = await this.#world.count(node, this.#world.question(this.#draw));
      this.#note(counts !== undefined);
    }
  }

  /** A new delivery, or a repetition if there are enough new ones. */
  #nextDelivery(): Delivery {
    if (this.#world.acknowledged >= this.#acknowledgedMost)
      return deliveryOf(this.#draw, this.#repeats++ % this.#number);
    const delivery = deliveryOf(this.#draw, this.#number++);
    if (delivery.twice) this.#again.push({ ...delivery, twice: false });
    return delivery;
  }

  #note(well: boolean): void {
    if (well) this.answered++;
    else this.failed++;
    this.#inRow = well ? 0 : this.#inRow + 1;
    if (this.#inRow > failuresMax) throw new Error(`${failuresMax} requests in a row failed`);
    this.#watched.look();
  }
}
