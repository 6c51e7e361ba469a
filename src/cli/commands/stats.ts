/** `caller-stats stats`: the counts of a range, whole, over time or by caller, from the store or from a running server. */
import { type Command, Option } from 'commander';
import { INTERVALS } from '../../domain/counting/interval.js';
import { type Io, UsageError } from '../io.js';
import { addSourceOptions, type SourceOptions, withSource } from '../options/count-source.js';
import { type Asked, BY_CALLER, OVER_TIME, type View, WHOLE } from '../stats-views.js';
import { printJson } from '../terminal/output.js';

interface StatsOptions extends SourceOptions, Asked {
  readonly callers?: boolean;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const NAMES = { from: '--from', to: '--to', interval: '--interval', timeZone: '--time-zone' };

export function addStatsCommand(program: Command, io: Io): void {
  const command = program
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
    .addOption(new Option('--callers', 'print them for each caller').conflicts(['interval', 'timeZone']));
  addSourceOptions(command)
    .option('--json', 'print the counts as JSON')
    .addOption(new Option('--csv', 'print the counts as CSV').conflicts('json'))
    .action(async (projectId: string, options: StatsOptions) => {
      if (options.callers) return show(BY_CALLER, projectId, options, io);
      const overTime = options.interval !== undefined || options.timeZone !== undefined;
      return overTime ? show(OVER_TIME, projectId, options, io) : show(WHOLE, projectId, options, io);
    });
}

async function show<Question, Answer>(
  view: View<Question, Answer>,
  projectId: string,
  options: StatsOptions,
  io: Io,
): Promise<void> {
  const question = view.parse(options, NAMES);
  if (!question.ok) throw new UsageError(question.problems);
  const answer = await withSource(options, io, 'caller-stats project list', (source) =>
    source.read(view, projectId, question.value, options),
  );
  if (options.json) printJson(io.stdout, answer);
  else if (options.csv) io.stdout.write(view.toCsv(answer));
  else view.print(answer, io.stdout);
}
