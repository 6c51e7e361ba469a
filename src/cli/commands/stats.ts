/** `caller-stats stats`: the counts of a range, as totals, over time or by caller. */

import { type Command, Option } from 'commander';
import { CALLER_STATS, CALLERS, type Report, SERIES } from '../../app/reading/reports.js';
import { INTERVALS } from '../../domain/calendar/names.js';
import { describeChange } from '../../domain/counting/change.js';
import {
  type Bucket,
  type CallerCounts,
  type CallerStats,
  COUNT_FIELDS,
  type Compared,
  type PreviousCounts,
} from '../../domain/counting/counts.js';
import type { CountsRequest, ReportInput } from '../../domain/counting/report-request.js';
import type { Series } from '../../domain/counting/series.js';
import { formatCount } from '../../domain/format.js';
import { seriesCallersMax } from '../../domain/limits.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, runOnSource, type SourceOptions } from '../options/count-source.js';
import { addRangeOptions, REPORT_OPTIONS } from '../options/report-range.js';
import { formatTable, printJson, printLine, printText } from '../terminal/output.js';

interface StatsOptions extends SourceOptions, ReportInput {
  readonly callers?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
}

export function addStatsCommand(program: Command, io: Io): void {
  const command = program
    .command('stats')
    .description("prints the number of queries to a project's assistant, by caller type")
    .argument('<project>', "the project's id");
  addRangeOptions(command)
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

async function print<Question extends CountsRequest, Answer extends Compared>(
  report: Report<Question, Answer>,
  format: (answer: Answer, recordingBegan: string | null) => readonly string[],
  projectId: string,
  options: StatsOptions,
  io: Io,
): Promise<void> {
  const nowMs = io.clock.now();
  const ask = (weekStart: WeekStart | null): Question => {
    const question = report.parse(options, { nowMs, names: REPORT_OPTIONS, weekStart });
    if (!question.ok) throw new UsageError(question.problems);
    return question.value;
  };
  // Before a database or server is needed.
  const { timeZone } = ask(null);
  const isTable = !options.json && !options.csv;
  const { answer, began } = await runOnSource(options, io, 'caller-stats project list', async (source) => {
    const read = await source.read(report, projectId, ask, options);
    const isCompared = isTable && read.answer.previous !== undefined;
    const recordingBegan = isCompared ? await source.recordingBegan(projectId, timeZone) : null;
    return { answer: read.answer, began: recordingBegan };
  });
  if (options.json) printJson(io.stdout, answer);
  else if (options.csv) printText(io.stdout, report.toCsv(answer));
  else for (const line of format(answer, began)) printLine(io.stdout, line);
}

const COUNT_HEADS = COUNT_FIELDS.map((field) => field.toUpperCase());
const COMPARED_HEADS = ['PREVIOUS', 'CHANGE'];

function formatCounts({ previous, ...counts }: CallerStats, began: string | null): string[] {
  if (previous === undefined) {
    const width = formatCount(counts.total).length;
    return COUNT_FIELDS.map((type) => `${type.padEnd(5)}  ${formatCount(counts[type]).padStart(width)}`);
  }
  const rows = COUNT_FIELDS.map((type) => {
    const change = describe(counts[type], previous[type], previous.dateFrom, began);
    return [type, formatCount(counts[type]), formatCount(previous[type]), change];
  });
  const table = formatTable(['TYPE', 'COUNT', ...COMPARED_HEADS], rows, ['COUNT', ...COMPARED_HEADS]);
  return [...table, ...formatPrevious(previous, began)];
}

function formatSeries({ buckets, callers, rest, previous }: Series, began: string | null): string[] {
  const series = callers === undefined || rest === undefined ? undefined : [...callers, rest];
  const heads = series?.map((one) => ('caller' in one ? one.caller : '(rest)')) ?? COUNT_HEADS;
  const compared = previous === undefined ? [] : COMPARED_HEADS;
  const rows = buckets.map((bucket, at) => {
    const counts = series?.map((one) => one.counts[at] ?? 0) ?? COUNT_FIELDS.map((type) => bucket[type]);
    const cells = [bucket.start, bucket.end, ...counts.map(formatCount)];
    return compared.length === 0 ? cells : [...cells, ...describeBucket(bucket, began)];
  });
  const right = [...heads, ...compared];
  return [...formatTable(['START', 'END', ...right], rows, right), ...formatPrevious(previous, began)];
}

/** The total that a bucket is compared with, and how it changed. */
function describeBucket({ total, previous }: Bucket, began: string | null): string[] {
  if (previous === undefined || previous === null) return [NOTHING, NOTHING];
  return [formatCount(previous.total), describe(total, previous.total, previous.start, began)];
}

function formatCallers({ callers, previous }: CallerCounts, began: string | null): string[] {
  const rows = callers.map(({ caller, type, count }) => [caller, type, formatCount(count)]);
  return [...formatTable(['CALLER', 'TYPE', 'COUNT'], rows, ['COUNT']), ...formatPrevious(previous, began)];
}

function formatPrevious(previous: PreviousCounts | undefined, began: string | null): string[] {
  if (previous === undefined) return [];
  const counts = COUNT_FIELDS.map((field) => `${field} ${formatCount(previous[field])}`).join(', ');
  const change = describeChange(0, previous.total, {
    comparedFrom: previous.dateFrom,
    recordingBegan: began,
  });
  const note = change?.direction === 'unknown' ? [`no percentages: ${change.text}`] : [];
  return ['', `previous (${previous.dateFrom} to ${previous.dateTo}): ${counts}`, ...note];
}

/** In a cell without a number. */
const NOTHING = '-';

/** `+14%`, `-3.2%`, `new` or `0%`. */
function describe(now: number, before: number, comparedFrom: string, recordingBegan: string | null): string {
  const change = describeChange(now, before, { comparedFrom, recordingBegan });
  switch (change?.direction) {
    case undefined:
    case 'unknown':
      return NOTHING;
    case 'new':
      return change.text;
    case 'same':
      return '0%';
    case 'up':
      return `+${change.text}`;
    case 'down':
      return `-${change.text}`;
  }
}
