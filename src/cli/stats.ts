/** `caller-stats stats`: the counts of a range, from the store or from a running server. */
import type { Command } from 'commander';
import type { Counts } from '../domain/counts.js';
import { type DateRange, parseDateRange } from '../domain/date-range.js';
import { CallerStatsError } from '../domain/errors.js';
import { type Io, UsageError } from './io.js';
import { organizationOption } from './organization-option.js';
import { formatCount, printJson, printLine } from './output.js';
import { ServerClient } from './server-client.js';
import { readKey, readSettings, STORE_SETTINGS, settingOption } from './settings.js';
import { existing, withStore } from './with-store.js';

interface StatsOptions {
  readonly organization: string;
  readonly from?: string;
  readonly to?: string;
  readonly url?: string;
  readonly json?: boolean;
}

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
    .addOption(organizationOption().conflicts('url'))
    .addOption(settingOption('database').conflicts('url'))
    .option('--url <url>', 'ask a running server, with the key in CALLER_STATS_KEY, instead of the database')
    .option('--json', 'print the counts as JSON')
    .action(async (projectId: string, options: StatsOptions) => {
      const range = parseDateRange(options, { from: '--from', to: '--to' });
      if (!range.ok) throw new UsageError(range.problems);
      const counts =
        options.url === undefined
          ? await countInStore(projectId, range.value, options, io)
          : await new ServerClient(options.url, readKey(io.env), { triesMax: 1, note: () => {} }).count(
              projectId,
              options,
            );
      if (options.json) return printJson(io.stdout, counts);
      printCounts(counts, io);
    });
}

async function countInStore(
  projectId: string,
  range: DateRange,
  options: StatsOptions,
  io: Io,
): Promise<Counts> {
  const settings = readSettings(STORE_SETTINGS, { ...options }, io.env);
  return withStore(settings, existing, async (store) => {
    if ((await store.findProject(options.organization, projectId)) === undefined) {
      throw new CallerStatsError(
        'not_found',
        `There is no project ${projectId}; see caller-stats project list.`,
      );
    }
    return store.count(projectId, range);
  });
}

function printCounts(counts: Counts, io: Io): void {
  const width = formatCount(counts.total).length;
  for (const name of ['web', 'api', 'other', 'total'] as const) {
    printLine(io.stdout, `${name.padEnd(5)}  ${formatCount(counts[name]).padStart(width)}`);
  }
}
