import { otlpPartsMax } from '../../domain/limits.js';
import { HttpError } from '../server/errors.js';

/**
 * A body as it arrives, piece by piece. Its reader is a generator that yields whenever it needs more bytes, so a body of any
 * size takes the memory of its largest part, and the event loop can do other work between two pieces. It yields `TURN` where
 * it could go on, after so many steps that the event loop should do other work.
 */
export type Reading<T = void> = Generator<typeof TURN | undefined, T, undefined>;

const TURN = 'turn';

/** Fields, items and records that are read in one turn: some milliseconds, however small they are. */
const turnSteps = 500;

/** The body ended where more bytes had to follow. */
class CutError extends RangeError {}

export class Arriving {
  /** What has arrived and was not read yet begins at `at`. */
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  #steps = 0;
  /** The position of `bytes` in the body. */
  #start = 0;
  #later: Buffer[] = [];
  #laterBytes = 0;
  #needed = 1;
  #hasEnded = false;

  get position(): number {
    return this.#start + this.at;
  }

  get available(): number {
    return this.bytes.length - this.at;
  }

  /** Bytes that were read, and that the reader keeps. */
  kept = 0;

  /** An upper bound of the bytes of the texts of records that wait for their resource. */
  waiting = 0;

  /** The bytes in memory. */
  get held(): number {
    return this.bytes.length + this.#laterBytes + this.kept + this.waiting;
  }

  /** Returns whether the reader can go on. Only then are pieces joined: a long part must not be copied with each of them. */
  add(piece: Buffer): boolean {
    this.#later.push(piece);
    this.#laterBytes += piece.length;
    if (this.available + this.#laterBytes < this.#needed) return false;
    this.#join();
    return true;
  }

  end(): void {
    this.#hasEnded = true;
    this.#join();
  }

  /** Whether there is another byte. */
  *hasMore(): Reading<boolean> {
    while (this.available === 0 && !this.#hasEnded) yield* this.more(1);
    return this.available > 0;
  }

  /** The next bytes, in one piece. */
  *take(length: number): Reading<Buffer> {
    while (this.available < length) yield* this.more(length);
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  *skip(length: number): Reading {
    let left = length;
    while (this.available < left) {
      left -= this.available;
      this.at = this.bytes.length;
      yield* this.more(1);
    }
    this.at += left;
  }

  /** To be called for every field, item and record. Throws 413 if they are too many. */
  *step(): Reading {
    if (++this.#steps > otlpPartsMax)
      throw new HttpError(413, `The body has more than ${otlpPartsMax} parts; send fewer at a time.`);
    if (this.#steps % turnSteps === 0) yield* this.turn();
  }

  /** Lets the event loop do other work. */
  *turn(): Reading {
    yield TURN;
  }

  /** Waits until `needed` bytes are there. */
  *more(needed: number): Reading {
    if (this.#hasEnded) throw new CutError('it ends too early');
    this.#needed = needed;
    yield;
  }

  #join(): void {
    this.#start += this.at;
    const rest = this.bytes.subarray(this.at);
    const [only, ...others] = this.#later;
    this.bytes =
      rest.length === 0 && only !== undefined && others.length === 0
        ? only
        : Buffer.concat([rest, ...this.#later]);
    this.at = 0;
    this.#later = [];
    this.#laterBytes = 0;
    this.#needed = 1;
  }
}

/**
 * Reads a body with a generator. The methods throw what it throws, and return whether it can go on at once. Then call `goOn` in
 * another turn of the event loop, before anything else.
 */
export class BodyReader {
  readonly #arriving = new Arriving();
  readonly #reading: Reading;

  constructor(read: (arriving: Arriving) => Reading) {
    this.#reading = read(this.#arriving);
    this.#reading.next();
  }

  get held(): number {
    return this.#arriving.held;
  }

  add(piece: Buffer): boolean {
    return this.#arriving.add(piece) && this.goOn();
  }

  end(): boolean {
    this.#arriving.end();
    return this.goOn();
  }

  goOn(): boolean {
    return this.#reading.next().value === TURN;
  }
}
