/** Reads the analytics stream of hosted documentation platforms: one event a line, of which some are queries. */
import { parseJson } from '../../domain/queries/lines.js';
import { failure, type Result } from '../../domain/result.js';
import { type FieldMap, isObject, queryReader, type Reading } from './fields.js';
import { type ImportRecord, readJsonLines } from './records.js';

/** The type of the event that is a query, unless told otherwise. */
export const ASSISTANT_EVENT = 'docs.assistant.completed';

/** Where the payload of an event has a query's fields. Its caller is wherever the platform was told to put it. */
export const STREAM_FIELDS: FieldMap = { id: 'event_id', caller: 'caller', occurredAt: 'created_at' };

/** Events of other types than these are passed over. */
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
    else yield { line, value: ofPayload((value.value as { payload?: unknown }).payload, toQuery) };
  }
}

function ofPayload(payload: unknown, toQuery: (record: unknown) => Result<unknown>): Result<unknown> {
  const unpacked =
    typeof payload === 'string' ? parseJson(Buffer.from(payload)) : { ok: true as const, value: payload };
  if (!unpacked.ok || !isObject(unpacked.value)) {
    return failure('payload: is neither an object nor a string with one in JSON');
  }
  return toQuery(unpacked.value);
}
