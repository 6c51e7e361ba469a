/** Converts records of other systems to queries, as `--map`, `--caller` and similar options say. */
import { CALLER_PATTERN, isCallerName } from '../../domain/queries/caller.js';
import { type IdOrigin, LineIds } from '../../domain/queries/lines.js';
import type { QUERY_FIELDS } from '../../domain/queries/query.js';
import { failure, quote, type Result, success } from '../../domain/result.js';
import { type LocalClock, parseTimeInFormat, type TimeFormat } from '../../domain/time/timestamp-formats.js';
import type { Parsed } from './records.js';

export type QueryField = (typeof QUERY_FIELDS)[number];

/** The names of a query's fields in a record. */
export type FieldMap = Readonly<Record<QueryField, string>>;

/** How records are converted to queries. */
export interface Reading {
  /** Undefined if records are queries already; then an unknown field is an error. */
  readonly map: FieldMap | undefined;
  /** The default caller. */
  readonly caller: string | undefined;
  /** Maps values in the file to callers. */
  readonly callerValues: ReadonlyMap<string, string>;
  readonly timeFormat: TimeFormat;
  /** Undefined if times without an offset are bad, or UTC. */
  readonly clock: LocalClock | undefined;
  /** The values that a record must have in these fields to be a query. Needs a map. */
  readonly where: ReadonlyMap<string, ReadonlySet<string>>;
  /** Makes ids from the contents of records instead of reading a field. Needs a map. */
  readonly recordIds: IdOrigin | undefined;
}

/**
 * Converts a record to the input of `parseQuery`. `content` is what its id is made of, if ids are made: all of the record,
 * without the layout of the file.
 */
export type Converter = (record: unknown, content?: unknown) => Parsed;

/** Returns a converter for the records of one file. */
export function createConverter(reading: Reading): Converter {
  const { map, caller, callerValues, timeFormat, clock, where, recordIds } = reading;
  if (map !== undefined) {
    const ids = recordIds === undefined ? undefined : new LineIds(recordIds);
    return (record, content = record) => {
      if (!isObject(record)) return failure('is not an object');
      if (!isSelected(record, where)) return 'skipped';
      const id = ids?.next(Buffer.from(JSON.stringify(content))) ?? asId(readField(record, map.id));
      return applyMap(record, id, map, reading);
    };
  }
  const isPlain = timeFormat === 'rfc3339' && clock === undefined;
  if (caller === undefined && callerValues.size === 0 && isPlain) return success;
  return (record) => (isObject(record) ? withFields(record, record, reading) : success(record));
}

function isSelected(record: object, where: Reading['where']): boolean {
  for (const [name, values] of where) {
    const value = readField(record, name) ?? '';
    if (typeof value === 'object' || !values.has(String(value))) return false;
  }
  return true;
}

function applyMap(record: object, id: unknown, map: FieldMap, reading: Reading): Result<unknown> {
  const fields = { id, caller: readField(record, map.caller), occurredAt: readField(record, map.occurredAt) };
  const missing = (['id', 'caller', 'occurredAt'] as const).filter(
    (field) => isNothing(fields[field]) && !(field === 'caller' && reading.caller !== undefined),
  );
  if (missing.length > 0) {
    // `occurredAt` is required: without it, queries of the past would count as of now.
    return failure(
      ...missing.map((field) => `${field}: there is no ${quote(map[field])} in it`),
      ...suggestRecords(record),
    );
  }
  return withFields({ id }, fields, reading);
}

/** The likely reason why a record has no fields: it is an object around the records. */
function suggestRecords(record: object): string[] {
  const names = Object.entries(record).flatMap(([name, value]) =>
    Array.isArray(value) && isObject(value[0]) ? [name] : [],
  );
  return names.slice(0, 1).map((name) => `if the records are in ${quote(name)}, give --records ${name}`);
}

/** Adds the converted caller and time of `fields` to `base`. */
function withFields(
  base: object,
  fields: { readonly caller?: unknown; readonly occurredAt?: unknown },
  { caller: defaultCaller, callerValues, timeFormat, clock }: Reading,
): Result<unknown> {
  const input: Record<string, unknown> = { ...base };
  const named = isNothing(fields.caller) ? defaultCaller : fields.caller;
  const caller = typeof named === 'string' ? (callerValues.get(named) ?? named) : named;
  if (typeof caller === 'string' && !isCallerName(caller)) {
    // Converting such values by a rule could map two of them to the same name.
    return failure(
      `caller: ${quote(caller)} is not a caller's name (${CALLER_PATTERN}); name it with --caller-value ${JSON.stringify(`${caller.slice(0, 40)}=web`)}, or as another`,
    );
  }
  if (caller !== undefined) input['caller'] = caller;
  if (fields.occurredAt !== undefined) {
    const time = parseTimeInFormat(fields.occurredAt, timeFormat, clock);
    if (!time.ok) return failure(...time.problems.map((problem) => `occurredAt: ${problem}`));
    input['occurredAt'] = new Date(time.value).toISOString();
  }
  return success(input);
}

/** Converts exact integers to strings. Larger numbers lose digits, so two ids could become the same. */
function asId(id: unknown): unknown {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
}

/** Reads the field with this name or, if there is none, the nested field at this path (`a.b`). */
function readField(record: object, name: string): unknown {
  if (Object.hasOwn(record, name)) return (record as Record<string, unknown>)[name];
  let value: unknown = record;
  for (const part of name.split('.')) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
