/** The tools of `mcp`, with descriptions for models. */

import { callersOf, findCallerHint } from '../app/reading/caller-hint.js';
import {
  CALLER_STATS,
  CALLERS,
  CHANGES,
  LIST_PROJECTS,
  type Report,
  type ReportSource,
  SERIES,
} from '../app/reading/reports.js';
import { COMPARISONS, INTERVALS, PERIODS } from '../domain/calendar/names.js';
import {
  type CountsRequest,
  type CsvForm,
  DEFAULT_INTERVAL,
  REPORT_PARAMETER_NAMES,
  type ReportParameter,
  SERIES_BY,
} from '../domain/counting/report-request.js';
import { type Series, tooManyBuckets } from '../domain/counting/series.js';
import { CallerStatsError } from '../domain/errors.js';
import { formatCount, formatQuantity } from '../domain/format.js';
import {
  callersShownMax,
  projectsShownMax,
  toolBucketsMax,
  toolRowsMax,
  toolTokensMax,
} from '../domain/limits.js';
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
import { CallerStatsSchema } from '../http/schemas/schemas.js';
import {
  callersTable,
  changesTable,
  type Page,
  seriesTable,
  showTable,
  statsTable,
  type Table,
} from './answers.js';
import { describeQuestion } from './question-words.js';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  /** Of `ToolAnswer.structured`. */
  readonly output?: ObjectSchema;
  /** Runs the tool. Checks the arguments itself, and throws a `CallerStatsError` if they are invalid. */
  readonly call: (given: Readonly<Record<string, unknown>>) => Promise<ToolAnswer>;
}

export interface ToolAnswer {
  /** All of the answer. */
  readonly text: string;
  /** The same for programs, if it is short. */
  readonly structured?: object;
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
      output: aboutCounts(CallerStatsSchema),
      toTable: statsTable,
    }),
    readTool(context, SERIES, {
      name: 'get_caller_stats_series',
      title: 'Caller stats over time',
      description:
        'The same counts for each hour, day, week, month, quarter or year of a range, in the calendar of a time zone: for trends and ' +
        'comparisons. Buckets without queries are included. The first and the last bucket are clipped to the range, ' +
        `and all buckets add up to the result of get_caller_stats. At most ${formatCount(toolBucketsMax)} buckets: choose ` +
        'the widest interval that answers the question.',
      input: reportInput(SERIES.parameters, PAGE),
      toTable: (series) => seriesTable(requireFewBuckets(series)),
      narrow: (question) => ({ ...question, bucketsMax: toolBucketsMax }),
    }),
    readTool(context, CALLERS, {
      name: 'get_callers',
      title: 'Callers',
      description:
        'How many queries came from each caller in a range of time, most first. Shows which integrations and SDKs ' +
        `make up the type other. Names the first ${callersShownMax} unless rows says how many.`,
      input: reportInput(CALLERS.parameters, PAGE),
      toTable: callersTable,
    }),
    readTool(context, CHANGES, {
      name: 'get_changes',
      title: 'Why counts have changed',
      description:
        'How the counts of a range have changed since the start of a UTC day, and why: what was recorded since (recordedLate: what ' +
        'had occurred before), known of telemetry later, imported, withdrawn, renamed or undone, by whom, and of which callers. before and all changes add up ' +
        'exactly to now. Use it when a number differs from that of an earlier report.',
      input: reportInput(CHANGES.parameters, PAGE, ['since']),
      toTable: changesTable,
    }),
  ];
}

const projectId = stringSchema("The project's id, not its name. The tool list_projects lists the ids.");

/** The arguments of lists. */
const PAGE = {
  firstRow: {
    type: 'integer',
    minimum: 1,
    description:
      'The first row of the answer, counted from 1: an answer that left out rows says from which to go on.',
  },
  rows: {
    type: 'integer',
    minimum: 1,
    maximum: toolRowsMax,
    description: `How many rows to answer, however long they are. By default as many as fit into ${formatCount(toolTokensMax)} tokens.`,
  },
} as const;

/** Tools do not answer with CSV. */
type ToolParameter = Exclude<ReportParameter, keyof CsvForm>;

const reportInput = (
  parameters: readonly ReportParameter[],
  more: Readonly<Record<string, Schema>> = {},
  required: readonly ToolParameter[] = [],
) => {
  const describe = (some: readonly ToolParameter[]) =>
    Object.fromEntries(some.map((one) => [REPORT_PARAMETER_NAMES[one], DESCRIPTIONS[one]]));
  const optional = parameters
    .filter((one) => one !== 'layout' && one !== 'times')
    .filter((one) => !required.includes(one));
  return strictObjectSchema({ projectId, ...describe(required) }, { ...describe(optional), ...more });
};

/** The parameters of reports, with descriptions for models. */
const DESCRIPTIONS: Readonly<Record<ToolParameter, Schema>> = {
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
  asOf: stringSchema(
    'Answers as it would have been answered at the start of this UTC day, such as 2026-01-31: for numbers of an earlier report. ' +
      'Bounds must then lie on quarter hours.',
  ),
  since: stringSchema('The UTC day since whose start the counts have changed, such as 2026-01-31.'),
};

/** Before the counts, so that a model reads it first. Without the $id: clients refuse two schemas that have the same one. */
function aboutCounts({ type, required = [], properties }: ObjectSchema): ObjectSchema {
  const about = stringSchema(
    'What the counts mean: the range, its time zone, and the types of callers, in words.',
  );
  return { type, required: ['about', ...required], properties: { about, ...properties } };
}

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
  const input = strictObjectSchema({}, PAGE);
  return {
    name: LIST_PROJECTS,
    title: 'Projects',
    description:
      'The projects whose assistants are counted: the id that the other tools need, and the name. ' +
      `The first ${projectsShownMax} unless rows says how many.`,
    input,
    output: ProjectsSchema,
    call: async (given) => {
      const { page, problems } = readArguments(given, input);
      refuse(problems);
      const listed = (await projects()).map(({ id, name, timeZone, weekStart }) => ({
        id,
        name,
        timeZone,
        weekStart,
      }));
      const table = {
        words: [formatQuantity(listed.length, 'project')],
        columns: ['id', 'name', 'timeZone', 'weekStart'],
        rows: listed.map(({ id, name, timeZone, weekStart }) => [id, name, timeZone, weekStart]),
      };
      const asked = { ...page, count: page.count ?? projectsShownMax };
      return {
        text: showTable(table, asked, callAgain(LIST_PROJECTS, given)),
        structured: { projects: listed.slice(page.first - 1, page.first - 1 + asked.count) },
      };
    },
  };
}

/** The same call of a tool, for the rows from a later one. */
function callAgain(name: string, given: Readonly<Record<string, unknown>>): (firstRow: number) => string {
  return (firstRow) => `${name} with ${JSON.stringify({ ...given, firstRow })}`;
}

function readTool<Question extends CountsRequest, Answer extends object>(
  { source, clock }: ToolContext,
  report: Report<Question, Answer>,
  {
    narrow = (question) => question,
    toTable,
    ...tool
  }: Omit<Tool, 'call'> & {
    /** Asks for less than the report has for others. */
    narrow?: (question: Question) => Question;
    toTable: (answer: Answer) => Table;
  },
): Tool {
  return {
    ...tool,
    call: async (given) => {
      const { strings, page, problems } = readArguments(given, tool.input);
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
      const about = describeQuestion(question);
      const hint = await findCallerHint(question, answer, () => callersOf(source, id, nowMs));
      const words = hint === undefined ? [about] : [about, `Note: ${hint}`];
      const table = toTable(answer);
      return {
        text: showTable({ ...table, words: [...words, ...table.words] }, page, callAgain(tool.name, given)),
        ...(tool.output === undefined ? {} : { structured: { about, ...answer } }),
      };
    },
  };
}

function requireFewBuckets(series: Series): Series {
  const { interval, buckets, callers } = series;
  if (buckets.length > toolBucketsMax) throw tooManyBuckets(interval, callers !== undefined, toolBucketsMax);
  return series;
}

/** The arguments, and the problems of all of them. Models send null or '' for what they leave out. */
function readArguments(sent: Readonly<Record<string, unknown>>, { properties, required = [] }: ObjectSchema) {
  const known = Object.keys(properties);
  const isOmitted = ([name, value]: [string, unknown]) =>
    (value === null || value === '') && known.includes(name) && !required.includes(name);
  const given = Object.fromEntries(Object.entries(sent).filter((entry) => !isOmitted(entry)));
  const names = Object.keys(given);
  const isWrong = (name: string) => {
    const value = given[name];
    if (!Object.hasOwn(PAGE, name)) return typeof value !== 'string';
    if (!['string', 'number'].includes(typeof value) || !/^[1-9]\d{0,8}$/.test(String(value))) return true;
    return name === 'rows' && Number(value) > toolRowsMax;
  };
  const wrong = names.filter(isWrong);
  const problems = [
    ...required.filter((name) => !names.includes(name)).map((name) => `${name}: is missing`),
    ...unknownNameMessages('parameter', names, known),
    ...known
      .filter((name) => wrong.includes(name))
      .map((name) =>
        Object.hasOwn(PAGE, name)
          ? `${name}: is not a whole number from 1${name === 'rows' ? ` to ${formatCount(toolRowsMax)}` : ''}; leave it out or give one`
          : `${name}: is not a string; leave it out or give one`,
      ),
  ];
  const strings = Object.fromEntries(
    names.filter((name) => !wrong.includes(name)).map((name) => [name, String(given[name])]),
  ) as Readonly<Record<string, string>>;
  const page: Page = {
    first: Number(strings['firstRow'] ?? 1),
    count: strings['rows'] === undefined ? undefined : Number(strings['rows']),
  };
  return { strings, page, problems };
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw invalidArguments(problems);
}

function invalidArguments(details: readonly string[]): CallerStatsError {
  return new CallerStatsError('invalid', 'The call has invalid arguments.', { details });
}
