/** The options of `import` for history that exists only as counts. */
import { Option } from 'commander';
import type { CountTable } from '../../app/history/records.js';
import { sourceProblems } from '../../domain/counting/imported-count.js';
import { CALLER_FORM, isCallerName } from '../../domain/queries/caller.js';
import { quote } from '../../domain/result.js';
import { parseBound } from '../../domain/time/date-time.js';
import { parseTimeZone, type TimeZone, UTC } from '../../domain/time/time-zone.js';
import { UsageError } from '../io.js';
import { toFlag } from '../settings/setting.js';

/** The names of `--format` for counts, and what they are for. */
export const COUNT_FORMATS = {
  counts: 'CSV with the number of queries of each day and caller',
  'caller-stats-api': "counts of another server's caller-stats; FILE is its URL",
  plausible: 'imported_custom_events_….csv of Plausible, with the number of events of each day',
} as const;

/**
 * The table of custom events in Plausible's export, which its community edition has as well. Read from its source and its
 * page about the export in 2026.
 */
const PLAUSIBLE = { date: 'date', count: 'events', event: 'name' };

type CountFormat = keyof typeof COUNT_FORMATS;

export interface HistoryOptions {
  readonly format?: string;
  readonly caller?: string;
  readonly event?: readonly string[];
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  readonly source?: string;
  readonly sourceProject?: string;
  readonly from?: string;
  readonly to?: string;
  readonly timeZone?: string;
  readonly includeUnfinished?: boolean;
}

/** What the options say about the counts. */
export interface HistoryForm {
  readonly format: CountFormat;
  readonly caller: string | undefined;
  /** Undefined only for `caller-stats-api`, which has a default. */
  readonly source: string | undefined;
  readonly table: CountTable | undefined;
  /** Of the server that counts are read from. Empty for files. */
  readonly sourceProject: string;
  readonly from: string;
  readonly to: string | undefined;
  readonly zone: TimeZone;
  readonly includeUnfinished: boolean;
  readonly dryRun: boolean;
}

const OWN = ['source', 'sourceProject', 'from', 'to', 'timeZone', 'includeUnfinished'] as const;
/** Of them, those that apply to no other format. The others have a meaning of their own there. */
const ONLY_OWN = OWN.filter((name) => name !== 'source' && name !== 'timeZone');
const OF_SERVERS = ['sourceProject', 'from', 'to'] as const;
/** Options that all formats take. */
const SHARED: readonly string[] = [
  'format',
  'caller',
  'project',
  'database',
  'url',
  'json',
  'strict',
  'dryRun',
];

/** About counts. `import` has another `--source`, `--time-zone` and `--event`. */
export function historyOptions(): Option[] {
  return [
    new Option('--source-project <id>', 'caller-stats-api: the id of the project on that server'),
    new Option('--from <date>', 'caller-stats-api: the first day to read'),
    new Option('--to <date>', 'caller-stats-api: the day after the last one (default: today)'),
    new Option('--include-unfinished', 'also spans that have not ended yet'),
  ];
}

/** The options for counts; undefined for other formats. Throws `UsageError` with every problem. */
export function readHistoryForm(options: HistoryOptions, files: readonly string[]): HistoryForm | undefined {
  const format = Object.keys(COUNT_FORMATS).find((name) => name === options.format) as
    | CountFormat
    | undefined;
  const given = (names: readonly string[]) =>
    names
      .filter((name) => (options as Readonly<Record<string, unknown>>)[name] !== undefined)
      .map((name) => `--${toFlag(name)}`);
  const misplaced =
    format === undefined
      ? given(ONLY_OWN).map((flag) => `${flag}: is for --format ${Object.keys(COUNT_FORMATS).join(', ')}`)
      : given(
          Object.keys(options).filter(
            (name) => ![...SHARED, ...OWN, ...(format === 'plausible' ? ['event'] : [])].includes(name),
          ),
        ).map((flag) => `${flag}: does not apply to --format ${format}`);
  const problems = [
    ...misplaced,
    ...(format === 'counts' || format === 'plausible'
      ? given(OF_SERVERS).map((flag) => `${flag}: is for --format caller-stats-api`)
      : []),
    ...(format === undefined ? [] : findProblems(format, options, files)),
  ];
  if (format === undefined && misplaced.length === 0) return undefined;
  const zone = parseTimeZone(options.timeZone ?? UTC);
  if (!zone.ok) problems.push(...zone.problems.map((problem) => `--time-zone: ${problem}`));
  if (problems.length > 0 || !zone.ok) throw new UsageError(problems);
  if (format === undefined) return undefined;
  const { caller, source, sourceProject = '', from = '', to } = options;
  const { includeUnfinished = false, dryRun = false, event: [eventName = ''] = [] } = options;
  const table = format === 'plausible' ? { ...PLAUSIBLE, eventName } : undefined;
  return {
    format,
    caller,
    source,
    table,
    sourceProject,
    from,
    to,
    zone: zone.value,
    includeUnfinished,
    dryRun,
  };
}

function findProblems(format: CountFormat, options: HistoryOptions, files: readonly string[]): string[] {
  const { caller, source } = options;
  const problems: string[] = [];
  if (caller !== undefined && !isCallerName(caller))
    problems.push(`--caller: ${quote(caller)} is not ${CALLER_FORM}`);
  if (source !== undefined || format !== 'caller-stats-api')
    problems.push(...sourceProblems(source).map((problem) => `--${problem}`));
  if (format === 'plausible') problems.push(...findPlausibleProblems(options));
  if (format === 'caller-stats-api') problems.push(...findServerProblems(options, files));
  return problems;
}

function findPlausibleProblems({ caller, event = [] }: HistoryOptions): string[] {
  const problems = event.length === 1 ? [] : ['--event: name one event that stands for a question'];
  return caller === undefined
    ? [...problems, '--caller: is missing; name the caller of all events']
    : problems;
}

function findServerProblems({ sourceProject, from, to }: HistoryOptions, files: readonly string[]): string[] {
  const problems: string[] = [];
  if (files.length > 1) problems.push('FILE: give one URL');
  if (!sourceProject)
    problems.push('--source-project: is missing; give the id of the project on that server');
  const first = from === undefined ? undefined : dateProblem(from);
  if (from === undefined) problems.push('--from: is missing; give the first day to read');
  if (first !== undefined) problems.push(`--from: ${first}`);
  const last = to === undefined ? undefined : dateProblem(to);
  if (last !== undefined) problems.push(`--to: ${last}`);
  else if (to !== undefined && from !== undefined && to <= from)
    problems.push('--to: does not lie after --from');
  return problems;
}

function dateProblem(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return `${quote(text)} is not a date such as 2026-01-31`;
  const parsed = parseBound(text);
  return parsed.ok ? undefined : parsed.problems.join('; ');
}
