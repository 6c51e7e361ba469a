import { queryReader, type Reading } from './fields.js';
import { type ImportRecord, readJsonLines } from './records.js';

/** One object a line: a query, or a record that `reading` makes one of. */
export async function* readNdjson(
  chunks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<ImportRecord> {
  const toQuery = queryReader(reading);
  for await (const { line, value } of readJsonLines(chunks)) {
    yield { line, value: value.ok ? toQuery(value.value) : value };
  }
}
