/** `caller-stats stats`: the counts of a range, as totals, over time or by caller. */

import { type Command, Option } from 'commander';
import { CALLER_STATS, CALLERS, type Report, SERIES } from '../../app/reports.js';
import {
  type CallerCounts,
  type CallerStats,
  COUNT_FIELDS,
  type PreviousCounts,
} from '../../domain/counting/counts.js';
import { INTERVALS, PERIODS } from '../../domain/counting/names.js';
import type { ReportInput, ReportNames } from '../../domain/counting/report-request.js';
import type { Series } from '../../domain/counting/series.js';
import { formatCount } from '../../domain/format.js';
import { seriesCallersMax } from '../../domain/limits.js';
import { DEFAULT_WEEK_START, WEEK_STARTS } from '../../domain/time/calendar.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, runOnSource, type SourceOptions } from '../options/count-source.js';
import { formatTable, printJson, printLine, printText } from '../terminal/output.js';

interface StatsOptions extends SourceOptions, ReportInput {
  readonly callers?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const NAMES: ReportNames = {
  from: '--from',
  to: '--to',
  period: '--period',
  timeZone: '--time-zone',
  weekStart: '--week-start',
  compare: '--compare',
  caller: '--caller',
  interval: '--interval',
  by: '--by',
};

export function addStatsCommand(program: Command, io: Io): void {
  const command = program
    .command('stats')
    .description("prints the number of queries to a project's assistant, by caller type")
    .argument('<project>', "the project's id")
    .option(
      '--from <date>',
      'start of the range, inclusive: a date or an ISO 8601 date-time, in the time zone unless it has an offset',
    )
    .option('--to <date>', 'end of the range, exclusive')
    .option('--period <period>', `instead of --from and --to: ${PERIODS.join(', ')}`)
    .option('--time-zone <zone>', 'the time zone of dates and periods, such as Europe/Berlin (default: UTC)')
    .option(
      '--week-start <day>',
      `the day on which weeks begin: ${WEEK_STARTS.join(', ')} (default: ${DEFAULT_WEEK_START})`,
    )
    .option(
      '--compare <with>',
      'print the counts of another range as well: previous (the period before) or previous-year',
    )
    .option('--caller <caller>', 'count only the queries of this caller')
    .option('--interval <interval>', `print them over time, for each ${INTERVALS.join(', ')}`)
    .option('--by <by>', `print them over time, for each of the ${seriesCallersMax} busiest callers: caller`)
    .addOption(new Option('--callers', 'print them for each caller').conflicts(['interval', 'by', 'caller']));
  addSourceOptions(command)
    .option('--json', 'print the counts as JSON')
    .addOption(new Option('--csv', 'print the counts as CSV').conflicts('json'))
    .action(async (projectId: string, options: StatsOptions) => {
      if (options.callers) return print(CALLERS, formatCallers, projectId, options, io);
      const overTime = options.interval !== undefined || options.by !== undefined;
      return overTime
        ? print(SERIES, formatSeries, projectId, options, io)
        : print(CALLER_STATS, formatCounts, projectId, options, io);
    });
}

async function print<Question, Answer>(
  report: Report<Question, Answer>,
  format: (answer: Answer) => readonly string[],
  projectId: string,
  options: StatsOptions,
  io: Io,
): Promise<void> {
  const question = report.parse(options, { nowMs: io.clock.now(), names: NAMES });
  if (!question.ok) throw new UsageError(question.problems);
  const answer = await runOnSource(options, io, 'caller-stats project list', (source) =>
    source.read(report, projectId, question.value, options),
  );
  if (options.json) printJson(io.stdout, answer);
  else if (options.csv) printText(io.stdout, report.toCsv(answer));
  else for (const line of format(answer)) printLine(io.stdout, line);
}

const COUNT_HEADS = COUNT_FIELDS.map((field) => field.toUpperCase());

function formatCounts({ previous, ...counts }: CallerStats): string[] {
  const width = formatCount(counts.total).length;
  return [
    ...COUNT_FIELDS.map((type) => `${type.padEnd(5)}  ${formatCount(counts[type]).padStart(width)}`),
    ...formatPrevious(previous),
  ];
}

function formatSeries({ buckets, callers, rest, previous }: Series): string[] {
  const series = callers === undefined || rest === undefined ? undefined : [...callers, rest];
  const heads = series?.map((one) => ('caller' in one ? one.caller : '(rest)')) ?? COUNT_HEADS;
  const rows = buckets.map((bucket, at) => {
    const counts = series?.map((one) => one.counts[at] ?? 0) ?? COUNT_FIELDS.map((type) => bucket[type]);
    return [bucket.start, bucket.end, ...counts.map(formatCount)];
  });
  return [...formatTable(['START', 'END', ...heads], rows, heads), ...formatPrevious(previous)];
}

function formatCallers({ callers, previous }: CallerCounts): string[] {
  const rows = callers.map(({ caller, type, count }) => [caller, type, formatCount(count)]);
  return [...formatTable(['CALLER', 'TYPE', 'COUNT'], rows, ['COUNT']), ...formatPrevious(previous)];
}

function formatPrevious(previous: PreviousCounts | undefined): string[] {
  if (previous === undefined) return [];
  const counts = COUNT_FIELDS.map((field) => `${field} ${formatCount(previous[field])}`).join(', ');
  return ['', `previous (${previous.dateFrom} to ${previous.dateTo}): ${counts}`];
}
