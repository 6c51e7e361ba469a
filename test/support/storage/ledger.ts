/** A ledger of known events, of their acknowledgements, and of what the counts must be. */
import { BUCKET_WIDTHS_MS } from '../../../src/domain/counting/buckets.js';
import { type Counts, withTotal, zeroCounts } from '../../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../../src/domain/counting/date-range.js';
import { callerType } from '../../../src/domain/queries/caller.js';
import type { Query } from '../../../src/domain/queries/query.js';
import type { RecordResult } from '../../../src/storage/ports/store.js';

const callers = ['web', 'api', 'slack', 'sdk-python', 'web'];

/** The event of a number. Events are at and near bounds of buckets of all widths, before and after 1970. */
export function knownEvent(number: number): Query {
  const ids = [
    `0190a8b2-7c3e-7d4f-8a5b-${String(number).padStart(12, '0')}`,
    `event ${number}`,
    `16 bytes: ${String(number).padStart(6, '0')}`,
  ];
  const width = BUCKET_WIDTHS_MS[number % BUCKET_WIDTHS_MS.length] ?? 1;
  return {
    id: ids[number % ids.length] ?? '',
    caller: callers[number % callers.length] ?? '',
    occurredAt: width * (((number * 7) % 41) - 20) + (number % 3) - 1,
  };
}

/** Sizes of deliveries, none of them a multiple of `stride`. */
const sizes = [1, 40, 3, 150, 1, 12];
const stride = 7;
const newEvents = 10;

/** The delivery of a number: single events and overlapping batches. Every fourth one is a repetition. */
export function knownDelivery(number: number): Query[] {
  const of = number % 4 === 3 ? number - 3 : number;
  const size = sizes[of % sizes.length] ?? 1;
  return Array.from({ length: size }, (_, at) =>
    knownEvent(of * newEvents + ((at * stride + number) % size)),
  );
}

/** Counts the events in a range. */
export function recount(events: Iterable<Query>, { from, to }: DateRange): Counts {
  const counts = zeroCounts();
  for (const { caller, occurredAt } of events) {
    if (occurredAt >= from && occurredAt < to) counts[callerType(caller)]++;
  }
  return withTotal(counts);
}

/** Ranges with bounds at and near events, and the one without bounds. */
export function rangesOver(events: readonly Query[], howMany: number): DateRange[] {
  const moment = (number: number): number => events[number % events.length]?.occurredAt ?? 0;
  const ranges = Array.from({ length: howMany }, (_, at) => {
    const [a, b] = [moment(at * 37), moment(at * 101 + 5)];
    return { from: Math.min(a, b), to: Math.max(a, b) + (at % 3) };
  });
  return [ALL_TIME, ...ranges];
}

export class Ledger {
  readonly #sent = new Map<string, Query>();
  readonly #acknowledged = new Map<string, Query>();
  /** Every outcome of a request: a status, or `lost` without a response. */
  readonly outcomes = new Set<string>();
  /** The number of acknowledged deliveries. */
  deliveries = 0;
  /** The number of deliveries that were refused or lost, and sent again. */
  failures = 0;
  /** The sum of what the acknowledgements reported as recorded. */
  recorded = 0;

  get events(): Query[] {
    return [...this.#acknowledged.values()];
  }

  /** The number of events that were sent. */
  get sentEvents(): number {
    return this.#sent.size;
  }

  get acknowledgedEvents(): number {
    return this.#acknowledged.size;
  }

  send(events: readonly Query[]): void {
    for (const event of events) this.#sent.set(event.id, event);
  }

  acknowledge(events: readonly Query[], { recorded, duplicates }: RecordResult): void {
    if (recorded + duplicates !== events.length) {
      throw new Error(`${recorded} recorded and ${duplicates} duplicates are not the ${events.length} sent`);
    }
    for (const event of events) this.#acknowledged.set(event.id, event);
    this.deliveries++;
    this.recorded += recorded;
  }
}
