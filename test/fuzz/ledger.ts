/** What the service acknowledged, kept from outside it. */
import type { Query } from '../../src/domain/queries/query.js';
import { eventNumbers, eventOf, traceNumbers } from './events.js';
import type { FuzzRequest } from './parts.js';

export class FuzzLedger {
  readonly #events = new Uint8Array(eventNumbers);
  readonly #traces = new Uint8Array(traceNumbers);
  /** Sums of what the answers said was new. */
  recordedEvents = 0;
  recordedOthers = 0;
  /** Recordings that were sent twice because a connection ended: the first may have been recorded. */
  sentTwice = 0;
  /** Requests by number that recorded something, known or not; as many as are kept to be repeated. */
  readonly accepted: number[] = [];

  /** What is wrong with a `200`; undefined where nothing is. */
  acknowledge({ number, effect }: FuzzRequest, body: Buffer): string | undefined {
    if (effect.kind === 'none') return undefined;
    if (this.accepted.length < acceptedKept || number % 16 === 0) this.accepted.push(number);
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

  /** Every known query that was acknowledged. */
  *events(): Generator<Query> {
    for (let number = 0; number < eventNumbers; number++)
      if (this.#events[number] === 1) yield eventOf(number);
  }

  /** The numbers of the traces that were. */
  traces(): number[] {
    return [...this.#traces.keys()].filter((number) => this.#traces[number] === 1);
  }
}

const acceptedKept = 5000;
