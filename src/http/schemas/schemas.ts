/**
 * The schemas of requests and responses: for validation, serialization and the OpenAPI document. The domain parses the same
 * input, and creates the error messages.
 */

import { COMPARISONS, INTERVALS, PERIODS } from '../../domain/calendar/names.js';
import { CORRECTION_ACTIONS } from '../../domain/corrections/correction.js';
import { COUNT_FIELDS, mapTypes } from '../../domain/counting/counts.js';
import { SOURCE_PATTERN } from '../../domain/counting/imported-count.js';
import {
  DEFAULT_INTERVAL,
  LAYOUTS,
  REPORT_PARAMETER_NAMES,
  REPORT_PARAMETERS,
  type ReportParameter,
  SERIES_BY,
  TIMES,
} from '../../domain/counting/report-request.js';
import { CHANGE_CAUSES } from '../../domain/history/timeline.js';
import { REFUSAL_REASONS } from '../../domain/ingestion/refusals.js';
import { SOURCE_KINDS } from '../../domain/ingestion/source-counts.js';
import {
  changesListedMax,
  correctionIdsMax,
  correctionReasonCharactersMax,
  importedCountMax,
  importedSpanDaysMax,
  queryIdCharactersMax,
  seriesByCallerBucketsMax,
  seriesCallersMax,
} from '../../domain/limits.js';
import {
  CALLER_DESCRIPTION,
  CALLER_PATTERN,
  CALLER_TYPE_DESCRIPTIONS,
  CALLER_TYPES,
} from '../../domain/queries/caller.js';
import { type ReceiptInput, SENDER_PATTERN } from '../../domain/queries/receipt.js';
import { DEFAULT_WEEK_START, WEEK_STARTS } from '../../domain/time/calendar.js';
import { BOUND_PATTERN, TIMESTAMP_PATTERN } from '../../domain/time/date-time.js';
import { TIME_ZONE_PATTERN, UTC } from '../../domain/time/time-zone.js';
import { OTLP_SCHEMAS } from '../otlp/schemas.js';
import {
  arraySchema,
  enumSchema,
  type NamedSchema,
  objectSchema,
  type Schema,
  strictObjectSchema,
  stringSchema,
} from './json-schema.js';

const details = arraySchema(objectSchema({ message: stringSchema() }), {
  description: 'One message for each problem.',
});

const ErrorSchema = {
  $id: 'Error',
  description: 'Every error has this shape.',
  ...objectSchema({ error: stringSchema('The problem, and how to solve it.') }, { details }),
};

const count = (description: string) => ({ type: 'integer', minimum: 0, description });

const moment = (description: string, more: object = {}) =>
  stringSchema(description, { pattern: TIMESTAMP_PATTERN, ...more });

const typeCounts = {
  ...mapTypes((type) => count(CALLER_TYPE_DESCRIPTIONS[type])),
  total: count('The sum of all caller types.'),
};

/** Only in responses to requests with `compare`. */
const compared = {
  previous: {
    description: 'The counts of the range that `compare` asks for.',
    ...objectSchema({
      ...typeCounts,
      dateFrom: moment("Start of that range, inclusive, with the time zone's offset at that time."),
      dateTo: moment('End of that range, exclusive.'),
    }),
  },
};

export const CallerStatsSchema = {
  $id: 'CallerStats',
  description: "The number of queries that the project's assistant got, by the type of their caller.",
  ...objectSchema(typeCounts, compared),
};

const callerCount = {
  caller: stringSchema(`${CALLER_DESCRIPTION}.`),
  type: enumSchema(CALLER_TYPES, 'The type of the caller.'),
  count: { type: 'integer', minimum: 1, description: 'The number of its queries.' },
};

const bucketCounts = arraySchema(count('The queries in one bucket.'), {
  description: 'A number for each bucket, in the same order.',
});

const CallerSchema = stringSchema(`${CALLER_DESCRIPTION}, which counts as other.`, {
  pattern: CALLER_PATTERN,
  examples: ['web'],
});

export const SeriesSchema = {
  $id: 'CallerStatsSeries',
  description:
    "The number of queries that the project's assistant got over time, by the type of their caller.",
  ...objectSchema(
    {
      interval: enumSchema(INTERVALS, 'The length of the buckets.'),
      timeZone: stringSchema('The time zone of the calendar.'),
      buckets: arraySchema(
        objectSchema(
          {
            start: moment("Start of the bucket, inclusive, with the time zone's offset at that time."),
            end: moment('End of the bucket, exclusive, and the start of the next.'),
            ...typeCounts,
          },
          {
            previous: {
              description:
                'With `compare`: the counts of the counterpart of the bucket in the other range; null if it has none, such as ' +
                'February 30, or an hour that a clock change skips or repeats.',
              anyOf: [
                objectSchema({
                  start: moment('Start of the counterpart, inclusive.'),
                  end: moment('End of the counterpart, exclusive.'),
                  ...typeCounts,
                }),
                { type: 'null' },
              ],
            },
          },
        ),
        { description: 'In order of time, including buckets without queries.' },
      ),
    },
    {
      callers: arraySchema(objectSchema({ ...callerCount, counts: bucketCounts }), {
        description: `With \`by=caller\`: the ${seriesCallersMax} busiest callers, largest count first, then by name.`,
      }),
      rest: {
        description: 'With `by=caller`: all other callers together.',
        ...objectSchema({
          callers: count('How many callers these are.'),
          count: count('The number of their queries.'),
          counts: bucketCounts,
        }),
      },
      ...compared,
    },
  ),
};

export const CallersSchema = {
  $id: 'Callers',
  description: "The number of queries that the project's assistant got from each caller.",
  ...objectSchema(
    {
      total: count('The sum of all callers.'),
      callers: arraySchema(objectSchema(callerCount), {
        description: 'All callers with queries, largest count first, then by name.',
      }),
    },
    compared,
  ),
};

const typeChanges = Object.fromEntries(
  COUNT_FIELDS.map((field) => [field, { type: 'integer', description: 'More, or fewer if it is negative.' }]),
);

const nullableText = (description: string) => ({ type: ['string', 'null'], description });

export const ChangesSchema = {
  $id: 'Changes',
  description:
    'How the counts of a range have changed since a moment. `before` and all changes add up to `now`, by type and by caller.',
  ...objectSchema({
    since: moment('The moment.'),
    dateFrom: nullableText('Start of the range, inclusive; null if it has none.'),
    dateTo: nullableText('End of the range, exclusive; null if it has none.'),
    before: { description: 'The counts as they were answered then.', ...objectSchema(typeCounts) },
    now: { description: 'The counts now.', ...objectSchema(typeCounts) },
    difference: { description: 'What is more now, by type.', ...objectSchema(typeChanges) },
    changes: arraySchema(
      objectSchema({
        cause: stringSchema(
          `Why: ${Object.entries(CHANGE_CAUSES)
            .map(([cause, meaning]) => `\`${cause}\`: ${meaning}`)
            .join(' ')} Later versions may add more.`,
          { examples: Object.keys(CHANGE_CAUSES) },
        ),
        by: stringSchema(
          'By whom: the sender of what was recorded, as in `recordedBy`, `counts:` and the source of imported counts, or who has corrected.',
        ),
        correction: nullableText('Id of the correction; null for what was recorded or imported.'),
        reason: nullableText('Why that correction was made.'),
        caller: callerCount.caller,
        type: callerCount.type,
        count: {
          type: 'integer',
          description: 'So many queries of this caller more, or fewer if it is negative.',
        },
      }),
      { description: `The largest first, at most ${changesListedMax}.` },
    ),
    otherChanges: {
      description: 'All changes that are not in the list, together.',
      ...objectSchema(typeChanges),
    },
  }),
};

const QuerySchema = {
  $id: 'Query',
  description: 'One question that somebody asked the assistant.',
  ...strictObjectSchema(
    {
      id: stringSchema(
        "The sender's own message or turn id, unique within the project and case-sensitive. UUIDv7 is best. No NUL character.",
        { minLength: 1, maxLength: queryIdCharactersMax, examples: ['question-1'] },
      ),
      caller: CallerSchema,
    },
    {
      occurredAt: stringSchema(
        'RFC 3339, with seconds and offset. Default: the time of receipt. Truncated to milliseconds. At most a day ahead of the server.',
        { pattern: TIMESTAMP_PATTERN },
      ),
    },
  ),
};

export const RecordResultSchema = {
  $id: 'RecordResult',
  description: 'The result of a recording request. The two numbers add up to the number of its queries.',
  ...objectSchema({
    recorded: count('New queries, which are now on disk.'),
    duplicates: count(
      'Queries whose id was already recorded in the project, or that occur twice in the request.',
    ),
  }),
};

const ingestionCounts = {
  requests: count('Requests, or runs of a command.'),
  refused: count('Requests that were answered with an error.'),
  arrived: count(
    'Spans, log records, queries or lines: the sum of the four below. Of a refused request only what its error counts.',
  ),
  recorded: count('New queries.'),
  duplicates: count(
    'Those of queries that were recorded already, by another span of the same question for example.',
  ),
  rejected: count(
    'Invalid ones, and those that an invalid one of the same request kept from being recorded.',
  ),
  unmatched: count('Spans and log records that match no rule, and lines that are no queries.'),
};

const ingestionWindow = objectSchema({
  ...ingestionCounts,
  unmatchedValues: arraySchema(
    objectSchema({
      attribute: stringSchema('An attribute that names operations, such as `gen_ai.operation.name`.'),
      value: stringSchema('Its value.'),
      count: count('How many records have it.'),
      otlpQuery: {
        type: ['string', 'null'],
        description:
          'The setting `--otlp-query` that would accept them, with all routes to which requests asked at once; null if there ' +
          'should be none. No setting is proposed to a source of which records match already.',
      },
      effect: {
        type: ['string', 'null'],
        description:
          'What that setting would have done with what was seen, such as `would have counted 2 of the last 40 requests; 38 were ' +
          'OPTIONS`; null without one.',
      },
    }),
    {
      description:
        'What those that match no rule are, and belong to no query that was recorded: first those with a rule that would accept ' +
        'them, then most first.',
    },
  ),
});

const refusal = objectSchema({
  reason: enumSchema(REFUSAL_REASONS, 'Why.'),
  key: {
    type: ['string', 'null'],
    description: 'The id of the key; null if it sent none that the server knows.',
  },
  message: stringSchema('Why, as a sentence.'),
  remedy: stringSchema('What the sender does about it.'),
  isLoss: {
    type: 'boolean',
    description:
      'Whether queries are lost if nobody does: what clients repeat is not, and everybody can cause `key-unknown`.',
  },
  requests: count('Refused requests of the last seven days.'),
  records: count(
    'Spans and log records that were rejected while others were accepted; queries and requests that are doubtful: ' +
      '`time-doubtful`, `no-header`, `many-in-trace`.',
  ),
  lastAt: moment('When the last one was, at most five minutes late.'),
});

export const IngestionSchema = {
  $id: 'Ingestion',
  description: 'What arrived for a project lately, and what became of it.',
  ...objectSchema({
    hourFrom: moment('Start of the last hour, which is counted in steps of five minutes.'),
    dayFrom: moment('Start of the last day.'),
    otlpQuery: stringSchema('The setting `--otlp-query` that is in effect for the project.'),
    sources: arraySchema(
      objectSchema({
        kind: enumSchema(SOURCE_KINDS, 'What the source sends.'),
        name: stringSchema(
          'The service of spans and log records, the name of the key of queries and of refused requests, or the command.',
        ),
        lastSeenAt: moment('When something last came from it.'),
        refusals: arraySchema(refusal, {
          description: 'Why something was refused or is doubtful, the last ones first.',
        }),
        lastHour: ingestionWindow,
        lastDay: ingestionWindow,
      }),
      { description: 'The sources of the last seven days, the one that was seen last first.' },
    ),
    expiringKeys: arraySchema(
      objectSchema({
        id: stringSchema('Its id.'),
        name: stringSchema('Its name.'),
        expiresAt: moment('When it expires.'),
        lastUsedAt: { type: ['string', 'null'], description: 'When it was last used.' },
      }),
      {
        description:
          'Keys in use that may record into the project and expire within 30 days, the first one at the start.',
      },
    ),
  }),
};

const ImportedCountSchema = {
  $id: 'ImportedCount',
  description: 'How many queries a caller sent within a span of time, as another system counted them.',
  ...strictObjectSchema({
    source: stringSchema('The name of that system, such as its URL. Counts of different sources add up.', {
      pattern: SOURCE_PATTERN,
      examples: ['old-service'],
    }),
    caller: CallerSchema,
    start: moment(
      'Start of the span, inclusive: RFC 3339, with seconds and offset. Its queries count at this time.',
      { examples: ['2026-01-01T00:00:00Z'] },
    ),
    end: moment(`End of the span, exclusive, at most ${importedSpanDaysMax} days after its start.`, {
      examples: ['2026-02-01T00:00:00Z'],
    }),
    count: { ...count('The number of queries in the span.'), maximum: importedCountMax },
  }),
};

/** One item or an array of them, with a name: generators of Go give a body without one no fields. */
const oneOrMany = ($id: string, item: string, description: string) =>
  ({ $id, description, anyOf: [{ $ref: item }, arraySchema({ $ref: item })] }) as const;

export const QueriesSchema = oneOrMany('Queries', 'Query', 'One query, or an array of queries.');

export const ImportedCountsSchema = oneOrMany(
  'ImportedCounts',
  'ImportedCount',
  'One count, or an array of counts.',
);

export const ToolMessageSchema = {
  $id: 'ToolMessage',
  description: 'A message of the Model Context Protocol (JSON-RPC 2.0), or a batch of messages.',
  anyOf: [
    { type: 'object', additionalProperties: true },
    arraySchema({ type: 'object', additionalProperties: true }),
  ],
} as const;

/** The body of a request in JSON, or in NDJSON with one item per line. */
export function jsonOrNdjsonBody(schema: NamedSchema, item: string, perLine: string) {
  return {
    content: {
      'application/json': { schema: { $ref: schema.$id } },
      'application/x-ndjson': { schema: arraySchema({ $ref: item }, { description: perLine }) },
    },
  };
}

export const ImportResultSchema = {
  $id: 'ImportResult',
  description: 'The result of an import. The two numbers add up to the number of its counts.',
  ...objectSchema({
    recorded: count('New counts, which are now on disk, or would be if this was not a dry run.'),
    duplicates: count('Counts that were imported before, or that occur twice in the request.'),
  }),
};

const correctionId = stringSchema('Id of the correction: the sender chooses it.', {
  minLength: 1,
  maxLength: queryIdCharactersMax,
});

const CorrectionRequestSchema = {
  $id: 'CorrectionRequest',
  description:
    'What to correct. The queries of `ids`, or all that match every given filter, or the imported counts of `source`.',
  ...strictObjectSchema(
    {
      id: correctionId,
      action: enumSchema(CORRECTION_ACTIONS, 'What to do.'),
      reason: stringSchema('Why, for those who wonder about the numbers later.', {
        minLength: 1,
        maxLength: correctionReasonCharactersMax,
      }),
    },
    {
      ids: arraySchema(stringSchema(), {
        minItems: 1,
        maxItems: correctionIdsMax,
        description: 'Ids of queries.',
      }),
      caller: stringSchema('Only queries of this caller.', { pattern: CALLER_PATTERN }),
      dateFrom: stringSchema('Only queries that occurred at this time or later.', { pattern: BOUND_PATTERN }),
      dateTo: stringSchema('Only queries that occurred before this time.', { pattern: BOUND_PATTERN }),
      recordedFrom: stringSchema('Only queries that arrived on this UTC day or later.', {
        pattern: BOUND_PATTERN,
      }),
      recordedTo: stringSchema('Only queries that arrived before this UTC day.', { pattern: BOUND_PATTERN }),
      recordedBy: stringSchema('Only queries of this sender, such as `key:ID` or `import:FILE`.', {
        pattern: SENDER_PATTERN,
      }),
      source: stringSchema('The imported counts of this source, to withdraw.', { pattern: SOURCE_PATTERN }),
      to: stringSchema('The caller for which they count after a rename.', { pattern: CALLER_PATTERN }),
      correction: stringSchema('Id of the correction to undo.'),
      dryRun: { type: 'boolean', default: false, description: 'Whether to answer only what would change.' },
    },
  ),
};

export const CorrectionSchema = {
  $id: 'Correction',
  description:
    'A correction with its figures: the queries that it changes, by the caller for which they counted before, or if they did not count, count after it.',
  ...objectSchema({
    id: correctionId,
    action: enumSchema(CORRECTION_ACTIONS, 'What to do.'),
    reason: stringSchema('Why.'),
    selection: {
      type: 'object',
      // Generators of Go know no list of two types but null.
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      description: 'Which queries, under the names of the request. Of ids, how many there are.',
    },
    to: { type: ['string', 'null'], description: 'The caller of a rename.' },
    correction: { type: ['string', 'null'], description: 'What an undo takes back.' },
    state: enumSchema(['dryRun', 'running', 'done'], 'Whether it is done.'),
    queries: { description: 'How many queries, by type.', ...objectSchema(typeCounts) },
    callers: arraySchema(objectSchema(callerCount), { description: 'How many queries, by caller.' }),
    otherCallers: count('Queries of callers that are not in the list.'),
    first: { type: ['string', 'null'], description: 'When the first of the queries occurred.' },
    last: { type: ['string', 'null'], description: 'When the last of the queries occurred.' },
    createdBy: { type: ['string', 'null'], description: 'Who asked for it: a key or a person.' },
    createdAt: { type: ['string', 'null'], description: 'When it was accepted.' },
    finishedAt: { type: ['string', 'null'], description: 'When it was done.' },
    undoneBy: { type: ['string', 'null'], description: 'Id of the correction that undoes it.' },
  }),
};

export const CorrectionsSchema = {
  $id: 'Corrections',
  description: 'Corrections, the newest first.',
  ...objectSchema({
    corrections: arraySchema({ $ref: 'Correction' }),
    next: { type: ['string', 'null'], description: '`before` of the next page; null after the last one.' },
  }),
};

const cutBound = {
  anyOf: [
    {
      ...objectSchema({
        start: moment('Start of the first of these spans.'),
        end: moment('End of the last of them.'),
        count: { type: 'integer', minimum: 1, description: 'Their queries.' },
      }),
    },
    { type: 'null' },
  ],
};

export const CutBoundsSchema = {
  $id: 'CutBounds',
  description:
    'The imported counts whose spans begin before a bound of the range and end after it. All their queries count at the ' +
    'start of their span, so none of them are within a range that begins there, and all within one that ends there.',
  ...objectSchema({
    dateFrom: { ...cutBound, description: 'Those that the start of the range cuts; null if there are none.' },
    dateTo: { ...cutBound, description: 'Those that its end cuts.' },
    buckets: {
      ...cutBound,
      description:
        'Those that begin in one bucket of `interval` and end in a later one, such as days that were imported in another time ' +
        'zone: the first bucket has all their queries. Null without `interval`.',
    },
  }),
};

export const StatusSchema = {
  $id: 'Status',
  ...objectSchema({ status: stringSchema() }, { details }),
};

/** Schemas with a name. The OpenAPI document lists them as components. */
export const SHARED_SCHEMAS: readonly NamedSchema[] = [
  ErrorSchema,
  CallerStatsSchema,
  SeriesSchema,
  CallersSchema,
  ChangesSchema,
  QuerySchema,
  QueriesSchema,
  RecordResultSchema,
  IngestionSchema,
  ImportedCountSchema,
  ImportedCountsSchema,
  ImportResultSchema,
  CorrectionRequestSchema,
  CorrectionSchema,
  CorrectionsSchema,
  CutBoundsSchema,
  ...OTLP_SCHEMAS,
  ToolMessageSchema,
  StatusSchema,
];

const bound = (description: string) => stringSchema(description, { pattern: BOUND_PATTERN });

/** The parameters of reports, under the names in the API. */
const REPORT_SCHEMAS: Readonly<Record<ReportParameter, Schema>> = {
  from: bound(
    'Start of the range, inclusive: a date (the start of that day) or an ISO 8601 date-time, in `timeZone` unless it has an offset. Default: no start.',
  ),
  to: bound(
    'End of the range, exclusive, in the same formats. Default: no end. Encode the `+` of an offset as `%2B`.',
  ),
  period: enumSchema(
    PERIODS,
    'Instead of `dateFrom` and `dateTo`: a range of whole days in `timeZone`. `last-7-days` and the like end with yesterday, ' +
      '`last-month` and the like are the last complete ones, `this-month` and the like end with today, and so do ' +
      '`7-days-to-date` and the like. `12-months-to-date` is the running month and the eleven before.',
  ),
  timeZone: stringSchema(
    'The time zone of dates, and of date-times without an offset: a name or link of the IANA time zone database, such as `Europe/Berlin` or `Asia/Calcutta`.',
    { default: UTC, pattern: TIME_ZONE_PATTERN },
  ),
  compare: enumSchema(
    COMPARISONS,
    'Adds `previous`, the counts of another range: `previous` is the period before, such as the month before `last-month`, ' +
      'and of bounds the range of the same length before; `previous-year` has the same local dates one year earlier. A range that ' +
      'is not over is compared with the same part of the other one. In a series, each bucket also gets its counterpart.',
  ),
  weekStart: enumSchema(
    WEEK_STARTS,
    `The day on which weeks begin, in periods and series. Default: the project's own, or \`${DEFAULT_WEEK_START}\`.`,
  ),
  caller: stringSchema('Counts only the queries of this caller, in the field of its type.', {
    pattern: CALLER_PATTERN,
    examples: ['slack'],
  }),
  interval: enumSchema(INTERVALS, 'The length of the buckets.', { default: DEFAULT_INTERVAL }),
  by: enumSchema(
    SERIES_BY,
    `Adds a series for each of the ${seriesCallersMax} busiest callers, and one for the rest. At most ${seriesByCallerBucketsMax} buckets.`,
  ),
  layout: enumSchema(
    LAYOUTS,
    'CSV with `by` has a column for each caller (`wide`), or a row for each caller and bucket (`long`).',
    { default: LAYOUTS[0] },
  ),
  times: enumSchema(
    TIMES,
    'CSV writes times as JSON does, or `local`: 2026-03-01 00:00:00, a date for spreadsheets. Where clocks go back, two rows have the same.',
    { default: TIMES[0] },
  ),
  asOf: stringSchema(
    'Answers as it would have been answered at the start of this UTC day. Bounds must then lie on quarter hours, and `period` must ' +
      'have been the same range. Reads all queries of the project, so it takes longer than the counts of now.',
    { pattern: BOUND_PATTERN, examples: ['2026-01-31'] },
  ),
  since: stringSchema('The UTC day since whose start the counts have changed.', {
    pattern: BOUND_PATTERN,
    examples: ['2026-01-31'],
  }),
};

const RECEIPT_SCHEMAS: Readonly<Record<keyof ReceiptInput, Schema>> = {
  recordedFrom: stringSchema('Only queries that arrived on this UTC day or later, such as `2026-01-31`.', {
    pattern: BOUND_PATTERN,
    examples: ['2026-01-31'],
  }),
  recordedTo: stringSchema('Only queries that arrived before this UTC day.', { pattern: BOUND_PATTERN }),
  recordedBy: stringSchema(
    'Only the queries of this sender: `key:` and the id of a key, `import:` and the name of a file, `telemetry:` and a service, ' +
      '`copy`, `demo`, or `unknown` for those from before senders were kept.',
    { pattern: SENDER_PATTERN, examples: ['import:messages.csv'] },
  ),
};

const parametersOf = (
  parameters: readonly ReportParameter[],
  more: Readonly<Record<string, Schema>> = {},
  required: Readonly<Record<string, Schema>> = {},
) =>
  strictObjectSchema(required, {
    ...Object.fromEntries(parameters.map((one) => [REPORT_PARAMETER_NAMES[one], REPORT_SCHEMAS[one]])),
    ...more,
  });

export const CallerStatsParameters = parametersOf(REPORT_PARAMETERS.callerStats);
export const SeriesParameters = parametersOf(REPORT_PARAMETERS.series);
export const CallersParameters = parametersOf(REPORT_PARAMETERS.callers);
export const ChangesParameters = parametersOf(
  REPORT_PARAMETERS.changes.filter((one) => one !== 'since'),
  {},
  { since: REPORT_SCHEMAS.since },
);
export const CutBoundsParameters = parametersOf(REPORT_PARAMETERS.cutBounds, {
  interval: enumSchema(INTERVALS, 'Also finds the spans that the buckets of a series cut.'),
});
export const QueriesParameters = parametersOf(REPORT_PARAMETERS.queries, RECEIPT_SCHEMAS);
export const NumbersParameters = parametersOf(REPORT_PARAMETERS.numbers);
export const WeekHoursParameters = parametersOf(REPORT_PARAMETERS.weekHours);

export const DryRunParameter = strictObjectSchema(
  {},
  {
    dryRun: enumSchema(['true', 'false'], '`true` checks the counts and changes nothing.', {
      default: 'false',
    }),
  },
);

export const CorrectionsParameters = strictObjectSchema(
  {},
  { before: stringSchema('Continues a list: `next` of the page before.', { pattern: '^[1-9][0-9]{0,8}$' }) },
);

export const NoParameters = strictObjectSchema({});

export const CorrectionPath = objectSchema({
  projectId: stringSchema("The project's id."),
  correctionId: stringSchema('Id of the correction.'),
});

export const ProjectPath = objectSchema({ projectId: stringSchema("The project's id.") });

/** A response in JSON. It refers to the schema by name. */
export function jsonResponse(schema: NamedSchema, description: string) {
  return { description, content: { 'application/json': { schema: { $ref: schema.$id } } } };
}

const ERROR_DESCRIPTIONS = {
  400: 'An invalid parameter or body; `details` has a message for each problem.',
  401: 'The key is missing, malformed, unknown, expired, disabled, revoked, or of the wrong type. This is checked first.',
  403: "The key is valid, but the client's address is not in its allowlist, or it lacks the scope that the method needs.",
  404: 'The project does not exist or belongs to another organization.',
  405: 'The path does not support this method; `Allow` lists the methods that it supports.',
  409: 'A count contradicts one that is there already, or another one of the request: their spans overlap, and their spans or numbers differ. Nothing was imported; `details` names each of them.',
  413: 'The body is too large, or has too many queries.',
  415: 'The Content-Type or the Content-Encoding is not supported.',
  429: 'Too many requests; `Retry-After` and the `RateLimit` headers say when to retry.',
  500: 'The server failed.',
  503: 'The server or its store cannot answer now; `Retry-After` says when to retry.',
} as const;

export type DocumentedError = keyof typeof ERROR_DESCRIPTIONS;

/** The error responses of an operation. */
export function errorResponses(...statuses: DocumentedError[]) {
  return Object.fromEntries(
    statuses.map((status) => [status, jsonResponse(ErrorSchema, ERROR_DESCRIPTIONS[status])]),
  );
}
