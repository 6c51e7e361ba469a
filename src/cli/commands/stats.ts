/** `caller-stats stats`: the counts of a range, as totals, over time or by caller. */

import type { Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import { CALLER_STATS, CALLERS, type Report, type ReportInput, SERIES } from '../../app/reports.js';
import { type CallerCounts, COUNT_FIELDS, type Counts } from '../../domain/counting/counts.js';
import { INTERVALS } from '../../domain/counting/interval.js';
import type { Series } from '../../domain/counting/series.js';
import { formatCount } from '../../domain/format.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, runOnSource, type SourceOptions } from '../options/count-source.js';
import { printJson, printLine, printTable } from '../terminal/output.js';

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
      if (options.callers) return show(CALLERS, printCallers, projectId, options, io);
      const overTime = options.interval !== undefined || options.timeZone !== undefined;
      return overTime
        ? show(SERIES, printSeries, projectId, options, io)
        : show(CALLER_STATS, printCounts, projectId, options, io);
    });
}

async function show<Question, Answer>(
  report: Report<Question, Answer>,
  print: (answer: Answer, to: Writable) => void,
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
  else if (options.csv) io.stdout.write(report.toCsv(answer));
  else print(answer, io.stdout);
}

const COUNT_HEADS = COUNT_FIELDS.map((field) => field.toUpperCase());

function printCounts(counts: Counts, to: Writable): void {
  const width = formatCount(counts.total).length;
  for (const type of COUNT_FIELDS)
    printLine(to, `${type.padEnd(5)}  ${formatCount(counts[type]).padStart(width)}`);
}

function printSeries({ buckets }: Series, to: Writable): void {
  printTable(
    to,
    ['START', 'END', ...COUNT_HEADS],
    buckets.map((bucket) => [
      bucket.start,
      bucket.end,
      ...COUNT_FIELDS.map((type) => formatCount(bucket[type])),
    ]),
    COUNT_HEADS,
  );
}

function printCallers({ callers }: CallerCounts, to: Writable): void {
  printTable(
    to,
    ['CALLER', 'TYPE', 'COUNT'],
    callers.map(({ caller, type, count }) => [caller, type, formatCount(count)]),
    ['COUNT'],
  );
}
