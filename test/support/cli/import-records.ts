import { selectReader } from '../../../src/app/import/formats.js';
import type { ImportRecord } from '../../../src/app/import/records.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { parseQuery } from '../../../src/domain/queries/query.js';

/** The clock of these tests, long after all of their queries. */
export const nowMs = Date.UTC(2030, 0, 1);

/** The result for one record: a query as `[id, caller, time]`, its problems, or `skipped`. */
export type Outcome = readonly [id: string, caller: string, occurredAt: string] | string;

/** The results of importing a file of this name, by line. Its text arrives in chunks of `chunkBytes`. */
export async function readRecords(
  text: string | Uint8Array,
  options: FormOptions,
  chunkBytes = 1000,
  name = 'file',
): Promise<[line: number, outcome: Outcome][]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const outcomes: [number, Outcome][] = [];
  const records: ImportRecord[] = [];
  for await (const some of selectReader(await readForm(options), name)(chunks())) records.push(...some);
  for (const { line, value } of records) {
    if (value === 'skipped') {
      outcomes.push([line, value]);
      continue;
    }
    const query = value.ok ? parseQuery(value.value, nowMs) : value;
    outcomes.push([
      line,
      query.ok
        ? [query.value.id, query.value.caller, new Date(query.value.occurredAt).toISOString()]
        : query.problems.join('; '),
    ]);
  }
  return outcomes;
}
