/** The options that say which time a command reads, and the names of all options of reports. */
import type { Command } from 'commander';
import { PERIODS } from '../../domain/calendar/names.js';
import type { ReportNames } from '../../domain/counting/report-request.js';
import { WEEK_STARTS } from '../../domain/time/calendar.js';

export const REPORT_OPTIONS: ReportNames = {
  from: '--from',
  to: '--to',
  period: '--period',
  timeZone: '--time-zone',
  weekStart: '--week-start',
  compare: '--compare',
  caller: '--caller',
  interval: '--interval',
  by: '--by',
  layout: '--layout',
  times: '--times',
  asOf: '--as-of',
  since: '--since',
};

export function addRangeOptions(command: Command): Command {
  return command
    .option(
      '--from <date>',
      'start of the range, inclusive: a date or an ISO 8601 date-time, in the time zone unless it has an offset',
    )
    .option('--to <date>', 'end of the range, exclusive')
    .option('--period <period>', `instead of --from and --to: ${PERIODS.join(', ')}`)
    .option('--time-zone <zone>', 'the time zone of dates and periods, such as Europe/Berlin (default: UTC)')
    .option(
      '--week-start <day>',
      `the day on which weeks begin: ${WEEK_STARTS.join(', ')} (default: the project's own)`,
    );
}
