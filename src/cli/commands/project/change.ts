/** `project change`: name, time zone and retention. */

import type { Command } from 'commander';
import { toListedProject } from '../../../app/listed.js';
import { nameCharactersMax, retentionDaysMax } from '../../../domain/limits.js';
import { isName, type ProjectChange } from '../../../domain/projects/project.js';
import { parseRetentionDays } from '../../../domain/projects/retention.js';
import { failure, type Result, success } from '../../../domain/result.js';
import { parseTimeZone } from '../../../domain/time/time-zone.js';
import { allOrProblems, type Io, UsageError } from '../../io.js';
import { settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, readStoreSettings, runOnStore } from '../../store-options.js';
import { printJson, printLine } from '../../terminal/output.js';

interface ChangeOptions {
  readonly organization: string;
  readonly name?: string;
  readonly timeZone?: string;
  readonly retentionDays?: string;
  readonly json?: boolean;
}

export function addChangeCommand(project: Command, io: Io): void {
  project
    .command('change')
    .description('changes what is known of a project; what is left out stays as it is')
    .argument('<id>', 'its id, from project list')
    .option('--name <name>', `what people call it; 1 to ${nameCharactersMax} characters`)
    .option('--time-zone <zone>', "an IANA name, as Europe/Berlin; none for the reader's own")
    .option(
      '--retention-days <days>',
      `days after which queries lose their rows, but not their counts: 1 to ${retentionDaysMax}, or none for never`,
    )
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print the project as JSON')
    .action(async (id: string, options: ChangeOptions) => {
      const [settings, change] = allOrProblems(
        () => readStoreSettings(options, io),
        () => readChange(options),
      );
      const changed = await runOnStore(settings, (store) =>
        store.changeProject(options.organization, id, change, commandLineActor(io.clock)),
      );
      if (options.json) printJson(io.stdout, toListedProject(changed));
      else printLine(io.stdout, `changed ${id} (${changed.name})`);
    });
}

/** `UsageError` with everything that is wrong with what was given. */
function readChange(options: ChangeOptions): ProjectChange {
  const parts = [
    parsed('name', '--name', options.name, parseName),
    parsed('timeZone', '--time-zone', options.timeZone, (text) =>
      text === 'none' ? success(null) : parseTimeZone(text),
    ),
    parsed('retentionDays', '--retention-days', options.retentionDays, parseRetentionDays),
  ];
  const problems = parts.flatMap((part) => (part.ok ? [] : part.problems));
  if (problems.length > 0) throw new UsageError(problems);
  const change = Object.assign({}, ...parts.map((part) => (part.ok ? part.value : {}))) as ProjectChange;
  if (Object.keys(change).length === 0)
    throw new UsageError(['project change: say what is to be new: --name, --time-zone or --retention-days']);
  return change;
}

function parseName(text: string): Result<string> {
  return isName(text) ? success(text) : failure(`is not 1 to ${nameCharactersMax} visible characters`);
}

/** What an option says about a field of the change; nothing where it was not given. */
function parsed<T>(
  field: keyof ProjectChange,
  flag: string,
  text: string | undefined,
  parse: (text: string) => Result<T>,
): Result<ProjectChange> {
  if (text === undefined) return success({});
  const value = parse(text);
  return value.ok
    ? success({ [field]: value.value })
    : failure(...value.problems.map((problem) => `${flag}: ${problem}`));
}
