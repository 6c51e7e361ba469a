/**
 * The schemas of requests and responses. They validate, serialize, and make the OpenAPI document; the domain then
 * parses what they let through, and says in words what was wrong with what they did not.
 */

import { mapTypes } from '../../domain/counting/counts.js';
import { INTERVALS } from '../../domain/counting/interval.js';
import { DEFAULT_INTERVAL } from '../../domain/counting/series.js';
import { queryIdCharactersMax } from '../../domain/limits.js';
import { CALLER_PATTERN, CALLER_TYPE_DESCRIPTIONS, CALLER_TYPES } from '../../domain/queries/caller.js';
import { BOUND_PATTERN, TIMESTAMP_PATTERN } from '../../domain/time/date-time.js';
import { TIME_ZONE_PATTERN, UTC } from '../../domain/time/time-zone.js';
import { OTLP_SCHEMAS } from '../otlp/schemas.js';
import {
  arraySchema,
  enumSchema,
  type NamedSchema,
  objectSchema,
  refTo,
  strictObjectSchema,
  stringSchema,
} from './json-schema.js';

const ErrorSchema = {
  $id: 'Error',
  description: 'Every error has this shape.',
  ...objectSchema(
    { error: stringSchema('What was wrong, and what to do.') },
    {
      details: arraySchema(objectSchema({ message: stringSchema() }), {
        description: 'One message for every violation.',
      }),
    },
  ),
};

const count = (description: string) => ({ type: 'integer', minimum: 0, description });

export const CallerStatsSchema = {
  $id: 'CallerStats',
  description: "How many queries the project's assistant got, by the type of their caller.",
  ...objectSchema({
    ...mapTypes((type) => count(CALLER_TYPE_DESCRIPTIONS[type])),
    total: count('The sum of all caller types.'),
  }),
};

const moment = (description: string) => stringSchema(description, { pattern: TIMESTAMP_PATTERN });

export const SeriesSchema = {
  $id: 'CallerStatsSeries',
  description: "How many queries the project's assistant got over time, by the type of their caller.",
  ...objectSchema({
    interval: enumSchema(INTERVALS, { description: 'What the buckets are.' }),
    timeZone: stringSchema('The time zone whose calendar they follow.'),
    buckets: arraySchema(
      objectSchema({
        start: moment("Start of the bucket, inclusive, with the time zone's offset at that time."),
        end: moment('End of the bucket, exclusive, and the start of the next.'),
        ...CallerStatsSchema.properties,
      }),
      { description: 'In order of time, those without queries included.' },
    ),
  }),
};

export const CallersSchema = {
  $id: 'Callers',
  description: "How many queries the project's assistant got from each caller.",
  ...objectSchema({
    total: count('The sum of all callers.'),
    callers: arraySchema(
      objectSchema({
        caller: stringSchema('`web`, `api`, or the name of an integration or SDK.'),
        type: enumSchema(CALLER_TYPES, { description: 'What it counts as.' }),
        count: { type: 'integer', minimum: 1, description: 'Queries that it sent.' },
      }),
      { description: 'Those that sent any, most first, then by name.' },
    ),
  }),
};

const QuerySchema = {
  $id: 'Query',
  description: 'One question that somebody asked the assistant.',
  ...strictObjectSchema(
    {
      id: stringSchema(
        "The sender's own message or turn id, unique within the project, compared byte for byte. UUIDv7 is best. No NUL character.",
        { minLength: 1, maxLength: queryIdCharactersMax },
      ),
      caller: stringSchema('`web`, `api`, or the name of an integration or SDK, which counts as other.', {
        pattern: CALLER_PATTERN,
      }),
    },
    {
      occurredAt: stringSchema(
        'RFC 3339, with seconds and offset. Left out, the time of receipt. Digits finer than a millisecond are dropped. At most a day ahead of the server.',
        { pattern: TIMESTAMP_PATTERN },
      ),
    },
  ),
};

export const RecordResultSchema = {
  $id: 'RecordResult',
  description: 'What became of the queries of a request; the two numbers add up to their number.',
  ...objectSchema({
    recorded: count('Queries that were new, and are now on disk.'),
    duplicates: count('Queries whose id the project already had, or that came twice in this request.'),
  }),
};

const LeakedKeySchema = {
  $id: 'LeakedKey',
  description: 'An API key that was found where it should not be.',
  ...strictObjectSchema({ key: stringSchema('The whole key, as it was found.') }),
};

export const StatusSchema = { $id: 'Status', ...objectSchema({ status: stringSchema() }) };

/** Schemas that others refer to by name; the OpenAPI document lists them as components. */
export const SHARED_SCHEMAS: readonly NamedSchema[] = [
  ErrorSchema,
  CallerStatsSchema,
  SeriesSchema,
  CallersSchema,
  QuerySchema,
  RecordResultSchema,
  ...OTLP_SCHEMAS,
  LeakedKeySchema,
  StatusSchema,
];

/** The same, for a serializer to find those that others refer to. */
export const SCHEMAS_BY_NAME = Object.fromEntries(SHARED_SCHEMAS.map((schema) => [schema.$id, schema]));

const bound = (description: string) => stringSchema(description, { pattern: BOUND_PATTERN });

const range = {
  dateFrom: bound(
    'Start of the range, inclusive: a date (the start of that day in UTC) or an ISO 8601 date-time (UTC unless it has an offset). Left out, the range has no start.',
  ),
  dateTo: bound(
    'End of the range, exclusive, in the same forms. Left out, the range has no end. Send the `+` of an offset as `%2B`.',
  ),
};

/** The two bounds that every operation over a range takes. */
export const RangeParameters = strictObjectSchema({}, range);

/** The same, and how they are to be cut. */
export const SeriesParameters = strictObjectSchema(
  {},
  {
    ...range,
    interval: enumSchema(INTERVALS, {
      default: DEFAULT_INTERVAL,
      description: 'What the buckets are. Weeks begin on Monday (ISO 8601).',
    }),
    timeZone: stringSchema(
      'A name of the IANA time zone database, links included: `Europe/Berlin`, `Asia/Calcutta`.',
      { default: UTC, pattern: TIME_ZONE_PATTERN },
    ),
  },
);

/** An operation without query parameters. */
export const NoParameters = strictObjectSchema({});

export const ProjectPath = objectSchema({ projectId: stringSchema("The project's id.") });

/** Sends the body that `$id` names, so that the document refers to it instead of repeating it. */
export function jsonResponse(schema: NamedSchema, description: string) {
  return { description, content: { 'application/json': { schema: refTo(schema.$id) } } };
}

/** The same, or as CSV with this header line. */
export function jsonOrCsvResponse(schema: NamedSchema, description: string, headerLine: string) {
  const { content } = jsonResponse(schema, description);
  const csv = stringSchema(`RFC 4180, with the header line \`${headerLine}\`.`);
  return { description, content: { ...content, 'text/csv': { schema: csv } } };
}

const ERROR_DESCRIPTIONS = {
  400: 'An invalid parameter or body; `details` has a message for every violation.',
  401: 'No key, or one that is malformed, unknown, expired, disabled, revoked, or of the wrong type. Checked before anything else.',
  403: 'A valid key, but from an address outside its allowlist, or without the scope that the method needs.',
  404: 'There is no such project, or it is another organization’s.',
  405: 'The path does not take this method; `Allow` has those that it takes.',
  413: 'The body is too large, or has too many queries.',
  415: 'The Content-Type or the Content-Encoding is not supported.',
  429: 'Too many requests; `Retry-After` and the `RateLimit` headers say when to come back.',
  500: 'The server failed.',
  503: 'The server or its store cannot answer now; `Retry-After` says when to come back.',
} as const;

export type DocumentedError = keyof typeof ERROR_DESCRIPTIONS;

/** The responses that an operation's errors have, by status. */
export function errorResponses(...statuses: DocumentedError[]) {
  return Object.fromEntries(
    statuses.map((status) => [status, jsonResponse(ErrorSchema, ERROR_DESCRIPTIONS[status])]),
  );
}
