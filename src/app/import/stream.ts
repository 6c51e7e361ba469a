/** Reads the analytics stream of hosted documentation platforms: one event per line, some of which are queries. */
import { parseJson } from '../../domain/queries/lines.js';
import { failure, type Result } from '../../domain/result.js';
import { type FieldMap, isObject, queryReader, type Reading } from './fields.js';
import { type ImportRecord, readJsonLines } from './records.js';

/** The default type of events that are queries. */
export const ASSISTANT_EVENT = 'docs.assistant.completed';

/** The names of a query's fields in an event's payload. The property with the caller depends on the platform's settings. */
export const STREAM_FIELDS: FieldMap = { id: 'event_id', caller: 'caller', occurredAt: 'created_at' };

/** Skips events of other types. */
export async function* readStream(
  chunks: AsyncIterable<Buffer>,
  reading: Reading,
  eventTypes: ReadonlySet<string>,
): AsyncGenerator<ImportRecord> {
  const toQuery = queryReader({ ...reading, map: reading.map ?? STREAM_FIELDS });
  for await (const { line, value } of readJsonLines(chunks)) {
    const type =
      value.ok && isObject(value.value) ? (value.value as { eventType?: unknown }).eventType : undefined;
    if (!value.ok) yield { line, value };
    else if (typeof type !== 'string')
      yield { line, value: failure('is not an event: eventType is no string') };
    else if (!eventTypes.has(type)) yield { line, value: 'skipped' };
    else yield { line, value: convertPayload((value.value as { payload?: unknown }).payload, toQuery) };
  }
}

function convertPayload(payload: unknown, toQuery: (record: unknown) => Result<unknown>): Result<unknown> {
  const unpacked =
    typeof payload === 'string' ? parseJson(Buffer.from(payload)) : { ok: true as const, value: payload };
  if (!unpacked.ok || !isObject(unpacked.value)) {
    return failure('payload: is neither an object nor a string with one in JSON');
  }
  return toQuery(unpacked.value);
}
