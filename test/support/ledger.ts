/** A ledger kept from outside the service: known events, who was told what of them, and what the counts must be. */
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { type Counts, withTotal } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { callerType } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';
import type { RecordResult } from '../../src/storage/ports/store.js';

const callers = ['web', 'api', 'slack', 'sdk-python', 'web'];

/** The event of this number, always the same; on and beside edges of buckets of all widths, on both sides of 1970. */
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

/** The delivery of this number: single events and batches that overlap, each in an order of its own; every fourth repeats. */
export function knownDelivery(number: number): Query[] {
  const of = number % 4 === 3 ? number - 3 : number;
  const size = sizes[of % sizes.length] ?? 1;
  return Array.from({ length: size }, (_, at) =>
    knownEvent(of * newEvents + ((at * stride + number) % size)),
  );
}

/** What a range holds, counted one by one. */
export function recount(events: Iterable<Query>, { from, to }: DateRange): Counts {
  const counts = { web: 0, api: 0, other: 0 };
  for (const { caller, occurredAt } of events) {
    if (occurredAt >= from && occurredAt < to) counts[callerType(caller)]++;
  }
  return withTotal(counts);
}

/** Ranges that begin and end on and beside events, and the one without bounds. */
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
  /** Every outcome that anybody met: a status, or `lost` where there was no answer. */
  readonly outcomes = new Set<string>();
  /** Deliveries that were acknowledged. */
  deliveries = 0;
  /** Deliveries that were refused or lost: each was to be sent again. */
  failures = 0;
  /** What the acknowledgements said was new, in all. */
  recorded = 0;

  get events(): Query[] {
    return [...this.#acknowledged.values()];
  }

  /** Events of which some delivery was begun. */
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
