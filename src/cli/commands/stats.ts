/** `caller-stats stats`: the counts of a range, as totals, over time or by caller. */

import { type Command, Option } from 'commander';
import { callersOf, findCallerHint } from '../../app/reading/caller-hint.js';
import type { Changes } from '../../app/reading/changes.js';
import { CALLER_STATS, CALLERS, CHANGES, type Report, SERIES } from '../../app/reading/reports.js';
import { INTERVALS } from '../../domain/calendar/names.js';
import { describeChange } from '../../domain/counting/change.js';
import {
  type Bucket,
  type CallerCounts,
  type CallerStats,
  COUNT_FIELDS,
  type PreviousCounts,
} from '../../domain/counting/counts.js';
import type { CountsRequest, ReportInput } from '../../domain/counting/report-request.js';
import type { Series } from '../../domain/counting/series.js';
import { formatCount } from '../../domain/format.js';
import type { ChangeCause } from '../../domain/history/timeline.js';
import { seriesCallersMax } from '../../domain/limits.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, PROJECT_LIST, runOnSource, type SourceOptions } from '../options/count-source.js';
import { addRangeOptions, REPORT_OPTIONS } from '../options/report-range.js';
import { formatTable, printJson, printLine, printText } from '../terminal/output.js';

interface ReportOptions extends SourceOptions, ReportInput {
  readonly json?: boolean;
  readonly csv?: boolean;
}

interface StatsOptions extends ReportOptions {
  readonly callers?: boolean;
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
    .option('--layout <layout>', 'with --by and --csv: wide or long (a row for each caller)')
    .option('--times <form>', 'with --csv: offset or local (for spreadsheets)')
    .option('--as-of <day>', 'print them as they were at the start of this UTC day')
    .addOption(
      new Option('--callers', 'print them for each caller').conflicts([
        'interval',
        'by',
        'layout',
        'times',
        'caller',
      ]),
    );
  addReportOptions(command).action(async (projectId: string, options: StatsOptions) => {
    if (options.callers) return print(CALLERS, formatCallers, projectId, options, io);
    const overTime = options.interval !== undefined || options.by !== undefined;
    return overTime
      ? print(SERIES, formatSeries, projectId, options, io)
      : print(CALLER_STATS, formatCounts, projectId, options, io);
  });
}

/** The options of a report that say where to read it from, and how to print it. */
function addReportOptions(command: Command): Command {
  return addSourceOptions(command)
    .option('--json', 'print the counts as JSON')
    .addOption(new Option('--csv', 'print the counts as CSV').conflicts('json'));
}

export function addChangesCommand(program: Command, io: Io): void {
  const command = program
    .command('changes')
    .description('prints how the counts of a range have changed since the start of a UTC day, and why')
    .argument('<project>', "the project's id")
    .option('--since <day>', 'the day, such as 2026-01-31');
  addReportOptions(addRangeOptions(command)).action((projectId: string, options: ReportOptions) =>
    print(CHANGES, formatChanges, projectId, options, io),
  );
}

async function print<Question extends CountsRequest, Answer extends object>(
  report: Report<Question, Answer>,
  format: (answer: Answer, recordingBegan: string | null) => readonly string[],
  projectId: string,
  options: ReportOptions,
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
  const { question, answer, began, hint } = await runOnSource(options, io, PROJECT_LIST, async (source) => {
    const read = await source.read(report, projectId, ask, options);
    const isCompared = isTable && 'previous' in read.answer;
    const recordingBegan = isCompared ? await source.recordingBegan(projectId, timeZone) : null;
    const hint = await findCallerHint(read.question, read.answer, () => callersOf(source, projectId, nowMs));
    return { ...read, began: recordingBegan, hint };
  });
  if (hint !== undefined) printLine(io.stderr, hint);
  if (options.json) printJson(io.stdout, answer);
  else if (options.csv) printText(io.stdout, report.toCsv(answer, question));
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

function formatChanges({ since, before, now, difference, changes, otherChanges }: Changes): string[] {
  const sign = (count: number): string => (count > 0 ? `+${formatCount(count)}` : formatCount(count));
  const counts = COUNT_FIELDS.map((type) => [
    ...[type, formatCount(before[type]), formatCount(now[type]), sign(difference[type])],
  ]);
  const rows = changes.map(({ cause, by, correction, reason, caller, count }) => {
    return [sign(count), caller, CAUSES[cause], by, correction === null ? '' : `${correction}: ${reason}`];
  });
  if (COUNT_FIELDS.some((type) => otherChanges[type] !== 0))
    rows.push([sign(otherChanges.total), '(others)', '', '', '']);
  const numbers = ['BEFORE', 'NOW', 'CHANGE'];
  const why = formatTable(['CHANGE', 'CALLER', 'WHY', 'BY', 'CORRECTION'], rows, ['CHANGE']);
  return [
    ...formatTable(['TYPE', ...numbers], counts, numbers),
    '',
    ...(rows.length === 0 ? [`nothing has changed since ${since}`] : why),
  ];
}

/** In a few words. */
const CAUSES: Readonly<Record<ChangeCause, string>> = {
  recorded: 'recorded',
  recordedLate: 'recorded late',
  known: 'known later',
  imported: 'imported',
  withdrawn: 'withdrawn',
  renamed: 'renamed',
  undone: 'undone',
};

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
