/** `caller-stats stats`: the counts of a range, whole, over time or by caller, from the store or from a running server. */
import { type Command, Option } from 'commander';
import { type DateRange, parseDateRange } from '../domain/date-range.js';
import { CallerStatsError } from '../domain/errors.js';
import { INTERVALS } from '../domain/interval.js';
import type { Result } from '../domain/result.js';
import { parseSeriesQuestion, type SeriesQuestion } from '../domain/series.js';
import type { Store } from '../storage/store.js';
import { type Io, UsageError } from './io.js';
import { organizationOption } from './organization-option.js';
import { printJson } from './output.js';
import { ServerClient } from './server-client.js';
import { readKey, readSettings, STORE_SETTINGS, settingOption } from './settings.js';
import { BY_CALLER, OVER_TIME, type View, WHOLE } from './stats-views.js';
import { existing, withStore } from './with-store.js';

interface StatsOptions {
  readonly organization: string;
  readonly from?: string;
  readonly to?: string;
  readonly interval?: string;
  readonly timeZone?: string;
  readonly callers?: boolean;
  readonly url?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const NAMES = { from: '--from', to: '--to', interval: '--interval', timeZone: '--time-zone' };

export function addStatsCommand(program: Command, io: Io): void {
  program
    .command('stats')
    .description("prints how many queries a project's assistant got, by the type of their caller")
    .argument('<project>', "the project's id")
    .option(
      '--from <date>',
      'start of the range, inclusive: a date or an ISO 8601 date-time, in UTC unless it says',
    )
    .option('--to <date>', 'end of the range, exclusive')
    .option('--interval <interval>', `print them over time, for each ${INTERVALS.join(', ')}`)
    .option(
      '--time-zone <zone>',
      'print them over time, in the calendar of this time zone, as Europe/Berlin (default: UTC)',
    )
    .addOption(new Option('--callers', 'print them for each caller').conflicts(['interval', 'timeZone']))
    .addOption(organizationOption().conflicts('url'))
    .addOption(settingOption('database').conflicts('url'))
    .option('--url <url>', 'ask a running server, with the key in CALLER_STATS_KEY, instead of the database')
    .option('--json', 'print the counts as JSON')
    .addOption(new Option('--csv', 'print the counts as CSV').conflicts('json'))
    .action(async (projectId: string, options: StatsOptions) => {
      if (options.callers) return show(BY_CALLER, parseRange(options), projectId, options, io);
      if (options.interval === undefined && options.timeZone === undefined) {
        return show(WHOLE, parseRange(options), projectId, options, io);
      }
      return show(OVER_TIME, parseQuestion(options), projectId, options, io);
    });
}

const parseRange = (options: StatsOptions): DateRange => usable(parseDateRange(options, NAMES));

const parseQuestion = (options: StatsOptions): SeriesQuestion => usable(parseSeriesQuestion(options, NAMES));

function usable<T>(parsed: Result<T>): T {
  if (!parsed.ok) throw new UsageError(parsed.problems);
  return parsed.value;
}

async function show<Question, Answer>(
  view: View<Question, Answer>,
  question: Question,
  projectId: string,
  options: StatsOptions,
  io: Io,
): Promise<void> {
  const answer =
    options.url === undefined
      ? await fromStore(projectId, options, io, (store) => view.read(store, projectId, question))
      : ((await new ServerClient(options.url, readKey(io.env), { triesMax: 1, note: () => {} }).get(
          projectId,
          view.operation,
          {
            dateFrom: options.from,
            dateTo: options.to,
            interval: options.interval,
            timeZone: options.timeZone,
          },
        )) as Answer);
  if (options.json) printJson(io.stdout, answer);
  else if (options.csv) io.stdout.write(view.toCsv(answer));
  else view.print(answer, io.stdout);
}

function fromStore<T>(
  projectId: string,
  options: StatsOptions,
  io: Io,
  read: (store: Store) => Promise<T>,
): Promise<T> {
  const settings = readSettings(STORE_SETTINGS, { ...options }, io.env);
  return withStore(settings, existing, async (store) => {
    if ((await store.findProject(options.organization, projectId)) === undefined) {
      throw new CallerStatsError(
        'not_found',
        `There is no project ${projectId}; see caller-stats project list.`,
      );
    }
    return read(store);
  });
}
