/** Reads the analytics stream of hosted documentation platforms: one event per line, some of which are queries. */
import { parseJson } from '../../domain/queries/lines.js';
import { failure, success } from '../../domain/result.js';
import { createConverter, type FieldMap, isObject, type Reading } from './fields.js';
import type { Parsed } from './records.js';

/** The default type of events that are queries. */
export const ASSISTANT_EVENT = 'docs.assistant.completed';

/** The names of a query's fields in an event's payload. The property with the caller depends on the platform's settings. */
export const STREAM_FIELDS: FieldMap = { id: 'event_id', caller: 'caller', occurredAt: 'created_at' };

/** Returns a function that converts an event to the input of `parseQuery`, and skips events of other types. */
export function createEventConverter(
  reading: Reading,
  eventTypes: ReadonlySet<string>,
): (event: unknown) => Parsed {
  const convert = createConverter({ ...reading, map: reading.map ?? STREAM_FIELDS });
  return (event) => {
    const { eventType, payload }: { eventType?: unknown; payload?: unknown } = isObject(event) ? event : {};
    if (typeof eventType !== 'string') return failure('is not an event: eventType is not a string');
    if (!eventTypes.has(eventType)) return 'skipped';
    const unpacked = typeof payload === 'string' ? parseJson(Buffer.from(payload)) : success(payload);
    return unpacked.ok && isObject(unpacked.value)
      ? convert(unpacked.value)
      : failure('payload: is neither an object nor a JSON string that contains one');
  };
}
