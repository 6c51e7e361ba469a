/** The tools of `mcp`, with descriptions for models. */

import {
  CALLER_STATS,
  CALLERS,
  LIST_PROJECTS,
  type Report,
  type ReportSource,
  SERIES,
} from '../app/reading/reports.js';
import { COMPARISONS, INTERVALS, PERIODS } from '../domain/calendar/names.js';
import { firstCallers } from '../domain/counting/counts.js';
import {
  type CountsRequest,
  DEFAULT_INTERVAL,
  REPORT_PARAMETER_NAMES,
  type ReportParameter,
  SERIES_BY,
} from '../domain/counting/report-request.js';
import { type Series, tooManyBuckets } from '../domain/counting/series.js';
import { CallerStatsError } from '../domain/errors.js';
import { formatCount } from '../domain/format.js';
import { callersShownMax, toolBucketsMax } from '../domain/limits.js';
import { CALLER_TYPE_DESCRIPTIONS, CALLER_TYPES } from '../domain/queries/caller.js';
import { collectProblems } from '../domain/result.js';
import { unknownNameMessages } from '../domain/suggest.js';
import { DEFAULT_WEEK_START, WEEK_STARTS, type WeekStart } from '../domain/time/calendar.js';
import type { Clock } from '../domain/time/clock.js';
import { UTC } from '../domain/time/time-zone.js';
import {
  arraySchema,
  enumSchema,
  type ObjectSchema,
  objectSchema,
  type Schema,
  strictObjectSchema,
  stringSchema,
} from '../http/schemas/json-schema.js';
import { CallerStatsSchema, CallersSchema, SeriesSchema } from '../http/schemas/schemas.js';
import { describeQuestion } from './question-words.js';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  /** Runs the tool. Checks the arguments itself, and throws a `CallerStatsError` if they are invalid. */
  readonly call: (given: Readonly<Record<string, unknown>>) => Promise<object>;
}

/** What the tools read from. */
export interface ToolContext {
  readonly source: ReportSource;
  readonly clock: Clock;
}

export function createTools(context: ToolContext): Tool[] {
  return [
    listTool(context.source.projects),
    readTool(context, CALLER_STATS, {
      name: 'get_caller_stats',
      title: 'Caller stats',
      description:
        "How many questions (queries) people asked a documentation site's AI assistant in a range of time, by type of caller. " +
        `${CALLER_TYPES.map((type) => `${type}: ${CALLER_TYPE_DESCRIPTIONS[type]}`).join(' ')} The total is their sum. ` +
        'Exact, to the millisecond.',
      input: reportInput(CALLER_STATS.parameters),
      output: CallerStatsSchema,
    }),
    readTool(context, SERIES, {
      name: 'get_caller_stats_series',
      title: 'Caller stats over time',
      description:
        'The same counts for each hour, day, week, month, quarter or year of a range, in the calendar of a time zone: for trends and ' +
        'comparisons. Buckets without queries are included. The first and the last bucket are clipped to the range, ' +
        `and all buckets add up to the result of get_caller_stats. At most ${formatCount(toolBucketsMax)} buckets: choose ` +
        'the widest interval that answers the question.',
      input: reportInput(SERIES.parameters),
      output: SeriesSchema,
      narrow: (question) => ({ ...question, bucketsMax: toolBucketsMax }),
      // Of a running server, which does not know the limit.
      shorten: requireFewBuckets,
    }),
    readTool(context, CALLERS, {
      name: 'get_callers',
      title: 'Callers',
      description:
        'How many queries came from each caller in a range of time, most first. Shows which integrations and SDKs ' +
        `make up the type other. Names the first ${callersShownMax}; rest has all others together.`,
      input: reportInput(CALLERS.parameters),
      output: {
        ...CallersSchema,
        properties: {
          ...CallersSchema.properties,
          rest: objectSchema({
            callers: { type: 'integer', description: 'How many other callers there are.' },
            count: { type: 'integer', description: 'The queries of all of them.' },
          }),
        },
      },
      shorten: ({ callers, ...answer }) => ({ ...answer, ...firstCallers(callers, callersShownMax) }),
    }),
  ];
}

const projectId = stringSchema("The project's id, not its name. The tool list_projects lists the ids.");

const reportInput = (parameters: readonly ReportParameter[]) =>
  strictObjectSchema(
    { projectId },
    Object.fromEntries(parameters.map((one) => [REPORT_PARAMETER_NAMES[one], DESCRIPTIONS[one]])),
  );

/** The parameters of reports, with descriptions for models. */
const DESCRIPTIONS: Readonly<Record<ReportParameter, Schema>> = {
  from: stringSchema(
    'Start of the range, inclusive: a date such as 2026-01-31, which is the start of that day in timeZone, or an ISO 8601 ' +
      'date-time, in timeZone unless it has an offset, such as 2026-01-31T00:00:00+01:00. By default: from the first query.',
  ),
  to: stringSchema(
    'End of the range, EXCLUSIVE, in the same forms: for all of January 2026, dateFrom 2026-01-01 and dateTo ' +
      '2026-02-01. By default: to the last query.',
  ),
  period: enumSchema(
    PERIODS,
    'A range of whole days in timeZone, instead of dateFrom and dateTo. last-7-days and the like end before today; ' +
      'last-month and the like are the last complete ones; this-month, 7-days-to-date and the like end with today.',
  ),
  timeZone: stringSchema('The time zone of dates, periods and buckets: an IANA name such as Europe/Berlin.', {
    default: UTC,
  }),
  weekStart: enumSchema(
    WEEK_STARTS,
    `The day on which weeks begin. By default that of the project, or ${DEFAULT_WEEK_START}.`,
  ),
  compare: enumSchema(
    COMPARISONS,
    'Adds the counts of another range as previous: the period before (of dates: the range of the same length before), or the ' +
      'same dates one year earlier. A range that is not over is compared with the same part of the other one. In a series, ' +
      'each bucket also has previous, the counts of its counterpart, or null if it has none.',
  ),
  caller: stringSchema(
    'Counts only the queries of this caller, such as slack, in the field of its type. get_callers lists the callers.',
  ),
  interval: enumSchema(INTERVALS, 'The length of the buckets.', { default: DEFAULT_INTERVAL }),
  by: enumSchema(
    SERIES_BY,
    'caller adds the counts of each of the busiest callers in each bucket, and those of all other callers together.',
  ),
};

/** Before the counts, so that a model reads it first. */
const about = stringSchema(
  'What the counts mean: the range, its time zone, and the types of callers, in words.',
);

const ProjectsSchema = objectSchema({
  projects: arraySchema(
    objectSchema({
      id: stringSchema('The projectId of the other tools.'),
      name: stringSchema(),
      timeZone: {
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description: "The project's time zone, an IANA name; null if it has none.",
      },
      weekStart: {
        type: ['string', 'null'],
        enum: [...WEEK_STARTS, null],
        description: `The day on which its weeks begin; null for ${DEFAULT_WEEK_START}.`,
      },
    }),
  ),
});

function listTool(projects: ReportSource['projects']): Tool {
  const input = strictObjectSchema({});
  return {
    name: LIST_PROJECTS,
    title: 'Projects',
    description: 'The projects whose assistants are counted: the id that the other tools need, and the name.',
    input,
    output: ProjectsSchema,
    call: async (given) => {
      refuse(readArguments(given, input).problems);
      const listed = await projects();
      return {
        projects: listed.map(({ id, name, timeZone, weekStart }) => ({ id, name, timeZone, weekStart })),
      };
    },
  };
}

function readTool<Question extends CountsRequest, Answer extends object>(
  { source, clock }: ToolContext,
  report: Report<Question, Answer>,
  {
    narrow = (question) => question,
    shorten = (answer) => answer,
    output,
    ...tool
  }: Omit<Tool, 'call'> & {
    /** Asks for less than the report has for others. */
    narrow?: (question: Question) => Question;
    /** Makes the answer short enough for a model. */
    shorten?: (answer: Answer) => object;
  },
): Tool {
  // Without the $id: clients refuse two schemas that have the same one.
  const { type, required = [], properties } = output;
  return {
    ...tool,
    output: { type, required: ['about', ...required], properties: { about, ...properties } },
    call: async (given) => {
      const { strings, problems } = readArguments(given, tool.input);
      const { projectId: id = '' } = strings;
      const asked = Object.fromEntries(
        report.parameters.map((one) => [one, strings[REPORT_PARAMETER_NAMES[one]]]),
      );
      const nowMs = clock.now();
      const ask = (weekStart: WeekStart | null): Question => {
        const question = report.parse(asked, { nowMs, weekStart });
        if (!question.ok || problems.length > 0)
          throw invalidArguments([...problems, ...collectProblems(question)]);
        return narrow(question.value);
      };
      // Before the project is read.
      ask(null);
      const { question, answer } = await source.read(report, id, ask, asked);
      return { about: describeQuestion(question), ...shorten(answer) };
    },
  };
}

function requireFewBuckets(series: Series): Series {
  const { interval, buckets, callers } = series;
  if (buckets.length > toolBucketsMax) throw tooManyBuckets(interval, callers !== undefined, toolBucketsMax);
  return series;
}

/** The arguments that are strings, and the problems of all arguments. Models send null or '' for what they leave out. */
function readArguments(sent: Readonly<Record<string, unknown>>, { properties, required = [] }: ObjectSchema) {
  const known = Object.keys(properties);
  const isOmitted = ([name, value]: [string, unknown]) =>
    (value === null || value === '') && known.includes(name) && !required.includes(name);
  const given = Object.fromEntries(Object.entries(sent).filter((entry) => !isOmitted(entry)));
  const names = Object.keys(given);
  const notStrings = names.filter((name) => typeof given[name] !== 'string');
  const problems = [
    ...required.filter((name) => !names.includes(name)).map((name) => `${name}: is missing`),
    ...unknownNameMessages('parameter', names, known),
    ...known
      .filter((name) => notStrings.includes(name))
      .map((name) => `${name}: is not a string; leave it out or give one`),
  ];
  const strings = Object.fromEntries(Object.entries(given).filter(([name]) => !notStrings.includes(name)));
  return { strings: strings as Readonly<Record<string, string>>, problems };
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw invalidArguments(problems);
}

function invalidArguments(details: readonly string[]): CallerStatsError {
  return new CallerStatsError('invalid', 'The call has invalid arguments.', { details });
}
