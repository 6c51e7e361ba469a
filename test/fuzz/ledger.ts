/** What the service has acknowledged. */
import type { Query } from '../../src/domain/queries/query.js';
import { eventNumbers, makeQuery, traceNumbers } from './events.js';
import type { FuzzRequest } from './parts.js';

export class FuzzLedger {
  readonly #events = new Uint8Array(eventNumbers);
  readonly #traces = new Uint8Array(traceNumbers);
  /** How many queries the responses called new. */
  recordedEvents = 0;
  recordedOthers = 0;
  /** Recordings that were repeated because a connection ended; the first try may have succeeded. */
  repeats = 0;
  /** Numbers of recording requests that are repeated at the end. */
  readonly accepted: number[] = [];

  /** Adds a `200` response. Returns what is wrong with it, or undefined. */
  acknowledge({ number, effect }: FuzzRequest, body: Buffer): string | undefined {
    if (effect.kind === 'none') return undefined;
    if (this.accepted.length < acceptedMax || number % 16 === 0) this.accepted.push(number);
    if (effect.kind === 'traces') {
      for (const one of effect.numbers) this.#traces[one] = 1;
      return undefined;
    }
    const { recorded, duplicates } = JSON.parse(body.toString()) as { recorded: number; duplicates: number };
    if (effect.kind === 'counted') this.recordedOthers += recorded;
    else {
      for (const one of effect.numbers) this.#events[one] = 1;
      this.recordedEvents += recorded;
      const sent = effect.numbers.length;
      if (recorded + duplicates !== sent)
        return `${recorded} recorded and ${duplicates} duplicates are not the ${sent} sent`;
    }
    return undefined;
  }

  /** All known queries that were acknowledged. */
  *events(): Generator<Query> {
    for (let number = 0; number < eventNumbers; number++)
      if (this.#events[number] === 1) yield makeQuery(number);
  }

  /** The numbers of all traces that were acknowledged. */
  traces(): number[] {
    return [...this.#traces.keys()].filter((number) => this.#traces[number] === 1);
  }
}

const acceptedMax = 5000;
