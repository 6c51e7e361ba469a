/** Converts records of other systems to queries, as `--map`, `--caller` and similar options say. */
import { CALLER_PATTERN, isCallerName } from '../../domain/queries/caller.js';
import type { QUERY_FIELDS } from '../../domain/queries/query.js';
import { failure, quote, type Result, success } from '../../domain/result.js';
import { parseTimeInFormat, type TimeFormat } from '../../domain/time/timestamp-formats.js';

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
}

/** Returns a function that converts a record to the input of `parseQuery`. */
export function createConverter(reading: Reading): (record: unknown) => Result<unknown> {
  const { map, caller, callerValues, timeFormat } = reading;
  if (map !== undefined) return (record) => applyMap(record, map, reading);
  if (caller === undefined && callerValues.size === 0 && timeFormat === 'rfc3339') return success;
  return (record) => (isObject(record) ? withFields(record, record, reading) : success(record));
}

function applyMap(record: unknown, map: FieldMap, reading: Reading): Result<unknown> {
  if (!isObject(record)) return failure('is not an object');
  const fields = {
    id: asId(readField(record, map.id)),
    caller: readField(record, map.caller),
    occurredAt: readField(record, map.occurredAt),
  };
  const missing = (['id', 'caller', 'occurredAt'] as const).filter(
    (field) => isNothing(fields[field]) && !(field === 'caller' && reading.caller !== undefined),
  );
  if (missing.length > 0) {
    // `occurredAt` is required: without it, queries of the past would count as of now.
    return failure(...missing.map((field) => `${field}: there is no ${quote(map[field])} in it`));
  }
  return withFields({ id: fields.id }, fields, reading);
}

/** Adds the converted caller and time of `fields` to `base`. */
function withFields(
  base: object,
  fields: { readonly caller?: unknown; readonly occurredAt?: unknown },
  { caller: defaultCaller, callerValues, timeFormat }: Reading,
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
    const time = parseTimeInFormat(fields.occurredAt, timeFormat);
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
