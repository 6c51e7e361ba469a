/** The tools of `mcp`, with descriptions for models. */
import {
  CALLER_STATS,
  CALLERS,
  type Report,
  type ReportInput,
  type ReportSource,
  SERIES,
} from '../app/reports.js';
import { INTERVALS } from '../domain/counting/interval.js';
import type { Series } from '../domain/counting/series.js';
import { DEFAULT_INTERVAL, SERIES_PARAMETER_NAMES } from '../domain/counting/series.js';
import { CallerStatsError } from '../domain/errors.js';
import { formatCount } from '../domain/format.js';
import { toolBucketsMax } from '../domain/limits.js';
import { CALLER_TYPE_DESCRIPTIONS, CALLER_TYPES } from '../domain/queries/caller.js';
import { unknownNameMessage } from '../domain/suggest.js';
import { UTC } from '../domain/time/time-zone.js';
import {
  arraySchema,
  enumSchema,
  type ObjectSchema,
  objectSchema,
  strictObjectSchema,
  stringSchema,
} from '../http/schemas/json-schema.js';
import { CallerStatsSchema, CallersSchema, SeriesSchema } from '../http/schemas/schemas.js';

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: ObjectSchema;
  readonly output: ObjectSchema;
  /** Runs the tool. Checks the arguments itself, and throws a `CallerStatsError` if they are invalid. */
  readonly call: (given: Readonly<Record<string, unknown>>) => Promise<object>;
}

export function createTools(source: ReportSource): Tool[] {
  const { projects } = source;
  const tools = [
    readTool(source, CALLER_STATS, {
      name: 'get_caller_stats',
      title: 'Caller stats',
      description:
        "How many questions (queries) people asked a documentation site's AI assistant in a range of time, by type of caller. " +
        `${CALLER_TYPES.map((type) => `${type}: ${CALLER_TYPE_DESCRIPTIONS[type]}`).join(' ')} The total is their sum. ` +
        'Exact, to the millisecond.',
      input: RangeInput,
      output: CallerStatsSchema,
    }),
    readTool(source, SERIES, {
      name: 'get_caller_stats_series',
      title: 'Caller stats over time',
      description:
        'The same counts for each hour, day, week or month of a range, in the calendar of a time zone: for trends and ' +
        'comparisons. Buckets without queries are there, too; the first and the last bucket are clipped to the range, ' +
        `and all of them add up to what get_caller_stats says of it. At most ${formatCount(toolBucketsMax)} buckets: choose ` +
        'the widest interval that answers the question.',
      input: SeriesInput,
      output: SeriesSchema,
      tooMuch: tooManyBuckets,
    }),
    readTool(source, CALLERS, {
      name: 'get_callers',
      title: 'Callers',
      description:
        'How many queries came from each caller in a range of time, most first. Shows which integrations and SDKs ' +
        'make up the type other.',
      input: RangeInput,
      output: CallersSchema,
    }),
  ];
  return projects === undefined ? tools : [listTool(projects), ...tools];
}

const projectId = stringSchema(
  "The project's id, not its name. Where there is a tool list_projects, it has them.",
);

const range = {
  dateFrom: stringSchema(
    'Start of the range, inclusive: a date such as 2026-01-31, which is the start of that day in UTC, or an ISO 8601 ' +
      'date-time, in UTC unless it has an offset, such as 2026-01-31T00:00:00+01:00. Left out: from the very first query.',
  ),
  dateTo: stringSchema(
    'End of the range, EXCLUSIVE, in the same forms: for all of January 2026, dateFrom 2026-01-01 and dateTo ' +
      '2026-02-01. Left out: to the very last query.',
  ),
};

const RangeInput = strictObjectSchema({ projectId }, range);

const SeriesInput = strictObjectSchema(
  { projectId },
  {
    ...range,
    interval: enumSchema(INTERVALS, {
      default: DEFAULT_INTERVAL,
      description: 'How long the buckets are. Weeks begin on Monday.',
    }),
    timeZone: stringSchema(
      'Whose days, weeks and months: an IANA name such as Europe/Berlin. It does not change what dateFrom and dateTo ' +
        'mean: give those an offset to begin and end at midnight there.',
      { default: UTC },
    ),
  },
);

const ProjectsSchema = objectSchema({
  projects: arraySchema(
    objectSchema({
      id: stringSchema('What the other tools take as projectId.'),
      name: stringSchema(),
      timeZone: {
        anyOf: [{ type: 'string' }, { type: 'null' }],
        description:
          "The IANA time zone that the project's people count days in; null where none was chosen.",
      },
    }),
  ),
});

function listTool(projects: NonNullable<ReportSource['projects']>): Tool {
  const input = strictObjectSchema({});
  return {
    name: 'list_projects',
    title: 'Projects',
    description: 'The projects whose assistants are counted: the id that the other tools need, and the name.',
    input,
    output: ProjectsSchema,
    call: async (given) => {
      refuse(findUnknownNames(given, input));
      return { projects: (await projects()).map(({ id, name, timeZone }) => ({ id, name, timeZone })) };
    },
  };
}

function readTool<Question, Answer extends object>(
  source: ReportSource,
  report: Report<Question, Answer>,
  { tooMuch, output, ...tool }: Omit<Tool, 'call'> & { tooMuch?: (answer: Answer) => string[] },
): Tool {
  // Clients refuse two schemas with the same $id.
  const { $id: _, ...unnamed } = output as ObjectSchema & { $id?: string };
  return {
    ...tool,
    output: unnamed,
    call: async (given) => {
      const problems = [...findUnknownNames(given, tool.input), ...findNonStrings(given, tool.input)];
      const { projectId: id, dateFrom: from, dateTo: to, interval, timeZone } = readStrings(given);
      if (!('projectId' in given)) problems.unshift('projectId: is missing');
      const asked: ReportInput = { from, to, interval, timeZone };
      const question = report.parse(asked, SERIES_PARAMETER_NAMES);
      if (!question.ok) problems.push(...question.problems);
      refuse(problems);
      if (!question.ok || id === undefined) throw new Error('arguments with problems were not refused');
      const answer = await source.read(report, id, question.value, asked);
      refuse(tooMuch?.(answer) ?? []);
      return answer;
    },
  };
}

function tooManyBuckets({ interval, buckets }: Series): string[] {
  if (buckets.length <= toolBucketsMax) return [];
  const made = `${interval} makes ${formatCount(buckets.length)} buckets of this range`;
  return [
    `interval: ${made}, and there are at most ${formatCount(toolBucketsMax)}; choose a wider interval or a smaller range`,
  ];
}

type Given = Readonly<Record<string, unknown>>;

function findUnknownNames(given: Given, { properties }: ObjectSchema): string[] {
  const known = Object.keys(properties);
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => unknownNameMessage('parameter', name, known));
}

function findNonStrings(given: Given, { properties }: ObjectSchema): string[] {
  return Object.keys(properties)
    .filter((name) => name in given && typeof given[name] !== 'string')
    .map((name) => `${name}: is not a string; leave it out or give one`);
}

function readStrings(
  given: Given,
): Partial<Record<'projectId' | 'dateFrom' | 'dateTo' | 'interval' | 'timeZone', string>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === 'string'));
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new CallerStatsError('invalid', 'The call has invalid arguments.', { details: problems });
}
