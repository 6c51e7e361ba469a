import { CALLER_TYPES } from '../../src/domain/queries/caller.js';
import type { Event } from './events.js';

/** Events in columns for fast recounts: ten million objects would measure the garbage collector. */
export interface Columns {
  readonly times: Float64Array;
  /** Indexes into `CALLER_TYPES`. */
  readonly types: Uint8Array;
}

/** Collects events into columns of a known length. */
export function toColumns(events: Iterable<Event>, count: number): Columns {
  const { columns, noted } = notedIn(events, count);
  for (const _ of noted) {
    // Drains the iterator, which fills the columns.
  }
  return columns;
}

/** Passes the events through, and fills columns along the way. */
export function notedIn(
  events: Iterable<Event>,
  count: number,
): { readonly columns: Columns; readonly noted: Iterable<Event> } {
  const columns = { times: new Float64Array(count), types: new Uint8Array(count) };
  return { columns, noted: note(events, columns) };
}

function* note(events: Iterable<Event>, { times, types }: Columns): Generator<Event> {
  let at = 0;
  for (const event of events) {
    times[at] = event.occurredAt;
    types[at] = CALLER_TYPES.findIndex((type) => type === event.caller || type === 'other');
    at++;
    yield event;
  }
  if (at !== times.length) throw new Error(`there are ${at} events, not ${times.length}`);
}
