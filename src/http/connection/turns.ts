/**
 * How much is parsed in one turn of the event loop, of all connections of a server together. Node would parse all that it has read, up to
 * 64 KB at a time and on every connection. What is left waits on its connection, which is paused: first come, first served.
 */
import type { Socket } from 'node:net';
import { PacedQueue } from '../admission/paced-queue.js';

/** Some hundred requests, or 32 KB of headers and chunks, which may be tiny. */
const stepsInTurn = 512;

/** Connections that begin or end in one turn. One of HTTP/2 may end ten calls. */
const connectionsInTurn = 8;

export class Turns {
  /** Connections that are paused until their turn comes, with the bytes that wait on each. */
  readonly #waiting = new Map<Socket, number>();
  readonly #waitingBytesMax: number;
  #waitingBytes = 0;
  readonly #connections = new PacedQueue({ count: connectionsInTurn, bytes: 0 });
  #stepsLeft = stepsInTurn;
  #isScheduled = false;

  /** A connection is closed if more than `waitingBytesMax` bytes would wait on all of them. */
  constructor(waitingBytesMax: number) {
    this.#waitingBytesMax = waitingBytesMax;
  }

  /** Whether nothing more is parsed in this turn. */
  get isOver(): boolean {
    return this.#stepsLeft <= 0;
  }

  spend(steps: number): void {
    this.#schedule();
    this.#stepsLeft -= steps;
  }

  /** Resolves when a connection may begin or end: clients open and close thousands at once. */
  next(): Promise<void> {
    return this.#connections.next();
  }

  /** Pauses the connection until its turn comes. The caller hands so many bytes back to it. */
  wait(socket: Socket, bytes: number): void {
    this.#schedule();
    this.#waiting.set(socket, bytes);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes > this.#waitingBytesMax) socket.destroy();
    else socket.pause();
  }

  forget(socket: Socket): void {
    this.#waitingBytes -= this.#waiting.get(socket) ?? 0;
    this.#waiting.delete(socket);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#isScheduled = false;
    this.#stepsLeft = stepsInTurn;
    for (const socket of this.#waiting.keys()) {
      if (this.isOver) break;
      this.forget(socket);
      // Hands over what waits before the next connection has its turn.
      if (socket.listenerCount('data') > 0) socket.resume().read();
    }
    if (this.#waiting.size > 0) this.#schedule();
  }
}
