/** From a record of any export to the fields of a query: what `--map`, `--caller` and their like say. */
import { CALLER_PATTERN, isCallerName } from '../../domain/queries/caller.js';
import type { QUERY_FIELDS } from '../../domain/queries/query.js';
import { failure, quote, type Result, success } from '../../domain/result.js';
import { parseTimeInFormat, type TimeFormat } from '../../domain/time/timestamp-formats.js';

export type QueryField = (typeof QUERY_FIELDS)[number];

/** Where a query's fields are in a record, by their names there. */
export type FieldMap = Readonly<Record<QueryField, string>>;

/** How records become queries. */
export interface Reading {
  /** Undefined where a record is a query as recording takes it, and an unknown field a mistake. */
  readonly map: FieldMap | undefined;
  /** The caller of queries that name none. */
  readonly caller: string | undefined;
  /** Callers by what stands for them in the file. */
  readonly callerValues: ReadonlyMap<string, string>;
  readonly timeFormat: TimeFormat;
}

/** Records that are queries already. */
export const PLAIN: Reading = {
  map: undefined,
  caller: undefined,
  callerValues: new Map(),
  timeFormat: 'rfc3339',
};

/** A function that makes the input of `parseQuery` of a record. */
export function queryReader(reading: Reading): (record: unknown) => Result<unknown> {
  const { map, caller, callerValues, timeFormat } = reading;
  if (map !== undefined) return (record) => mapped(record, map, reading);
  if (caller === undefined && callerValues.size === 0 && timeFormat === 'rfc3339') return success;
  return (record) => (isObject(record) ? withFields(record, record, reading) : success(record));
}

function mapped(record: unknown, map: FieldMap, reading: Reading): Result<unknown> {
  if (!isObject(record)) return failure('is not an object');
  const fields = {
    id: asId(fieldOf(record, map.id)),
    caller: fieldOf(record, map.caller),
    occurredAt: fieldOf(record, map.occurredAt),
  };
  const missing = (['id', 'caller', 'occurredAt'] as const).filter(
    (field) => isNothing(fields[field]) && !(field === 'caller' && reading.caller !== undefined),
  );
  if (missing.length > 0) {
    // Without a time it would count as of now, which is never what an export of other days means.
    return failure(...missing.map((field) => `${field}: there is no ${quote(map[field])} in it`));
  }
  return withFields({ id: fields.id }, fields, reading);
}

/** `base` with the caller and the time of `fields`, made ready for `parseQuery`. */
function withFields(
  base: object,
  fields: { readonly caller?: unknown; readonly occurredAt?: unknown },
  { caller: callerOfNone, callerValues, timeFormat }: Reading,
): Result<unknown> {
  const input: Record<string, unknown> = { ...base };
  const named = isNothing(fields.caller) ? callerOfNone : fields.caller;
  const caller = typeof named === 'string' ? (callerValues.get(named) ?? named) : named;
  if (typeof caller === 'string' && !isCallerName(caller)) {
    // Making names of such values by a rule could make two of them one.
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

/** A number that is exact becomes the text of its digits, as CSV has it; a larger one would be another id's as well. */
function asId(id: unknown): unknown {
  return typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
}

/** The field of this very name or, where there is none, what its parts between dots lead to. */
function fieldOf(record: object, name: string): unknown {
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
