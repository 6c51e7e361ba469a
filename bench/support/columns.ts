import type { Event } from './events.js';

/** How columns name who asked. */
export const TYPES = ['web', 'api', 'other'] as const;

/** Events as columns, to be counted again and again: ten million of them as objects would measure the garbage collector. */
export interface Columns {
  readonly times: Float64Array;
  /** Places in `TYPES`. */
  readonly types: Uint8Array;
}

/** Of events that are as many as said. */
export function columnsOf(events: Iterable<Event>, count: number): Columns {
  const { columns, noted } = notedIn(events, count);
  for (const _ of noted) {
    // All that is to be done with them is done on their way here.
  }
  return columns;
}

/** Events that are as many as said, and columns that have all of them when all of them were taken. */
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
    types[at] = TYPES.findIndex((type) => type === event.caller || type === 'other');
    at++;
    yield event;
  }
  if (at !== times.length) throw new Error(`there are ${at} events, not ${times.length}`);
}
