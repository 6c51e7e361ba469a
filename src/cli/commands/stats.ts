/** `caller-stats stats`: the counts of a range, as totals, over time or by caller. */
import { type Command, Option } from 'commander';
import { CALLER_STATS, CALLERS, type Report, type ReportInput, SERIES } from '../../app/reports.js';
import { type CallerCounts, COUNT_FIELDS, type Counts } from '../../domain/counting/counts.js';
import { INTERVALS } from '../../domain/counting/interval.js';
import type { Series } from '../../domain/counting/series.js';
import { formatCount } from '../../domain/format.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, runOnSource, type SourceOptions } from '../options/count-source.js';
import { formatTable, printJson, printLine, printText } from '../terminal/output.js';

interface StatsOptions extends SourceOptions, ReportInput {
  readonly callers?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const NAMES = { from: '--from', to: '--to', interval: '--interval', timeZone: '--time-zone' };

export function addStatsCommand(program: Command, io: Io): void {
  const command = program
    .command('stats')
    .description("prints the number of queries to a project's assistant, by caller type")
    .argument('<project>', "the project's id")
    .option(
      '--from <date>',
      'start of the range, inclusive: a date or an ISO 8601 date-time, in UTC unless it has an offset',
    )
    .option('--to <date>', 'end of the range, exclusive')
    .option('--interval <interval>', `print them over time, for each ${INTERVALS.join(', ')}`)
    .option(
      '--time-zone <zone>',
      'print them over time, in this time zone, such as Europe/Berlin (default: UTC)',
    )
    .addOption(new Option('--callers', 'print them for each caller').conflicts(['interval', 'timeZone']));
  addSourceOptions(command)
    .option('--json', 'print the counts as JSON')
    .addOption(new Option('--csv', 'print the counts as CSV').conflicts('json'))
    .action(async (projectId: string, options: StatsOptions) => {
      if (options.callers) return print(CALLERS, formatCallers, projectId, options, io);
      const overTime = options.interval !== undefined || options.timeZone !== undefined;
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
  const question = report.parse(options, NAMES);
  if (!question.ok) throw new UsageError(question.problems);
  const answer = await runOnSource(options, io, 'caller-stats project list', (source) =>
    source.read(report, projectId, question.value, options),
  );
  if (options.json) printJson(io.stdout, answer);
  else if (options.csv) printText(io.stdout, report.toCsv(answer));
  else for (const line of format(answer)) printLine(io.stdout, line);
}

const COUNT_HEADS = COUNT_FIELDS.map((field) => field.toUpperCase());

function formatCounts(counts: Counts): string[] {
  const width = formatCount(counts.total).length;
  return COUNT_FIELDS.map((type) => `${type.padEnd(5)}  ${formatCount(counts[type]).padStart(width)}`);
}

function formatSeries({ buckets }: Series): string[] {
  const rows = buckets.map((bucket) => [
    bucket.start,
    bucket.end,
    ...COUNT_FIELDS.map((type) => formatCount(bucket[type])),
  ]);
  return formatTable(['START', 'END', ...COUNT_HEADS], rows, COUNT_HEADS);
}

function formatCallers({ callers }: CallerCounts): string[] {
  const rows = callers.map(({ caller, type, count }) => [caller, type, formatCount(count)]);
  return formatTable(['CALLER', 'TYPE', 'COUNT'], rows, ['COUNT']);
}
