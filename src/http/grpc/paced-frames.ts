/**
 * Hands the frames of a connection to the session of HTTP/2 a few in each turn of the event loop. Given the socket itself, the session
 * would read up to 2 MB in a turn, and as much of every other connection: hundreds of streams, which a client may have reset at once.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Turns } from '../connection/turns.js';

type Done = (error?: Error | null) => void;

const prefaceBytes = 24;
const headBytes = 9;

const TYPE = { data: 0, headers: 1, continuation: 9 };

/** What a stream takes of a turn. Beginning a call is paced by itself. */
const streamSteps = 8;
/** Each may be a header, by its place in the table of the connection. */
const headerStepBytes = 16;

/** The bytes of a socket, both ways. */
export class PacedFrames extends Duplex {
  readonly #socket: Socket;
  readonly #turns: Turns;
  readonly #head = Buffer.alloc(headBytes);
  /** Bytes that have arrived of the head of a frame. */
  #headBytes = 0;
  /** Bytes of a frame, or of the preface, that follow. */
  #left = prefaceBytes;
  /** Whether the session reads nothing more for now. */
  #isFull = false;

  constructor(socket: Socket, turns: Turns) {
    // A session that reads on after a pause gets no more than before.
    super({ readableHighWaterMark: 0 });
    this.#socket = socket;
    this.#turns = turns;
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.once('end', () => void turns.next().then(() => this.push(null)));
    socket.once('close', () => void turns.next().then(() => this.destroy()));
  }

  #take(bytes: Buffer): void {
    if (this.destroyed) return;
    this.#turns.forget(this.#socket);
    const end = this.#isFull ? 0 : this.#countNow(bytes);
    if (end > 0 && !this.push(end < bytes.length ? bytes.subarray(0, end) : bytes)) this.#isFull = true;
    if (this.destroyed || this.#socket.destroyed) return;
    if (this.#isFull) this.#socket.pause();
    else if (end < bytes.length) this.#turns.wait(this.#socket, bytes.length - end);
    if (end < bytes.length) this.#socket.unshift(bytes.subarray(end));
  }

  /** How many of the bytes the session gets in this turn. */
  #countNow(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.#turns.isOver) {
      if (this.#left === 0) {
        const copied = bytes.copy(this.#head, this.#headBytes, at, at + headBytes - this.#headBytes);
        at += copied;
        this.#headBytes = (this.#headBytes + copied) % headBytes;
        if (this.#headBytes > 0) break;
        this.#left = this.#head.readUIntBE(0, 3);
        this.#turns.spend(stepsOf(this.#head.readUInt8(3), this.#left));
      }
      const some = Math.min(this.#left, bytes.length - at);
      this.#left -= some;
      at += some;
    }
    return at;
  }

  override _read(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#socket.resume();
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: Done): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: Done): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: Done): void {
    this.#socket.destroy();
    done(error);
  }
}

function stepsOf(type: number, bytes: number): number {
  if (type === TYPE.data) return 1;
  const isHead = type === TYPE.headers || type === TYPE.continuation;
  return (isHead ? streamSteps : 1) + bytes / headerStepBytes;
}
