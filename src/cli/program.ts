/** The command line: the list of commands, and the exit status of each error. */
import { Command, CommanderError, Help, type Option } from 'commander';
import { CallerStatsError, describeError } from '../domain/errors.js';
import { formatQuantity, toPrintable } from '../domain/format.js';
import { errorLinesMax } from '../domain/limits.js';
import { FailedResult, type Io, UsageError } from './io.js';
import { readSettingsFile } from './settings/settings-file.js';
import { nameOurs } from './terminal/other-names.js';
import { printLine } from './terminal/output.js';

/** Adds a command to the program. */
type Add = (program: Command, io: Io, version: string) => void;

/** In the order of the help. Each command loads its own code, because loading all takes longer than most commands run. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  serve: async () => (await import('./commands/serve.js')).addServeCommand,
  doctor: async () => (await import('./doctor/doctor.js')).addDoctorCommand,
  project: async () => (await import('./commands/project.js')).addProjectCommand,
  key: async () => (await import('./commands/key.js')).addKeyCommand,
  organization: async () => (await import('./commands/organization.js')).addOrganizationCommand,
  member: async () => (await import('./commands/member.js')).addMemberCommand,
  audit: async () => (await import('./commands/audit.js')).addAuditCommand,
  import: async () => (await import('./commands/import/import.js')).addImportCommand,
  export: async () => (await import('./commands/export.js')).addExportCommand,
  correct: async () => (await import('./commands/correct.js')).addCorrectCommand,
  stats: async () => (await import('./commands/stats.js')).addStatsCommand,
  changes: async () => (await import('./commands/stats.js')).addChangesCommand,
  mcp: async () => (await import('./commands/mcp.js')).addMcpCommand,
  verify: async () => (await import('./commands/verify.js')).addVerifyCommand,
  migrate: async () => (await import('./commands/migrate.js')).addMigrateCommand,
  backup: async () => (await import('./commands/backup.js')).addBackupCommand,
  restore: async () => (await import('./commands/backup.js')).addRestoreCommand,
  compact: async () => (await import('./commands/backup.js')).addCompactCommand,
  copy: async () => (await import('./commands/copy.js')).addCopyCommand,
};

/** The helps that are printed. Commander also asks for the options when it looks for one that is similar to a mistyped option. */
const printed = new WeakSet<Help>();

/** Lists settings only in the help of `serve`. Otherwise, the help of nearly every command would repeat some of them. */
const SHORT_HELP: Partial<Help> = {
  prepareContext(this: Help, options) {
    printed.add(this);
    Help.prototype.prepareContext.call(this, options);
  },
  visibleOptions(this: Help, command): Option[] {
    const options = Help.prototype.visibleOptions.call(this, command);
    if (command.name() === 'serve' || !printed.has(this)) return options;
    return options.filter(({ description }) => !description.includes('(env: '));
  },
};

/** Runs a command. Returns the exit status: 0, 1 for a failure, 2 for wrong usage. Never throws. */
export async function run(args: readonly string[], io: Io, version: string): Promise<0 | 1 | 2> {
  try {
    const program = await buildProgram(io, version, args[0]);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error, io);
  }
}

/** Builds the command `only`, or all commands if it does not exist. */
export async function buildProgram(io: Io, version: string, only = ''): Promise<Command> {
  const program = new Command('caller-stats');
  program
    .description(
      'Counts the queries that people send to the assistant of a documentation site, exactly, by caller.',
    )
    .version(version)
    .option(
      '--settings <file>',
      'the settings of a service, before or after the command: lines such as DATABASE_URL=sqlite:/var/lib/stats.db',
    )
    .hook('preAction', () => {
      const { settings } = program.opts<{ settings?: string }>();
      if (settings !== undefined) Object.assign(io.env, readSettingsFile(settings));
    })
    .configureHelp(SHORT_HELP)
    .addHelpText(
      'afterAll',
      '\nSettings, such as --database, are options of the commands that need them: caller-stats serve --help',
    )
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: (message, write) => write(toPrintable(nameOurs(message))),
    })
    .showHelpAfterError('(see --help)');
  const loaders = Object.hasOwn(COMMANDS, only) ? [COMMANDS[only]] : Object.values(COMMANDS);
  for (const load of loaders) (await load?.())?.(program, io, version);
  return program;
}

function report(error: unknown, io: Io): 0 | 1 | 2 {
  if (error instanceof FailedResult) return 1;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    const lines = error.message.split('\n').map((line) => `caller-stats: ${line}`);
    for (const line of firstLines(lines)) printLine(io.stderr, line);
    return 2;
  }
  if (error instanceof CallerStatsError) {
    printLine(io.stderr, `caller-stats: ${firstLines(describeError(error)).join('\n')}`);
    return 1;
  }
  printLine(
    io.stderr,
    `caller-stats: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return 1;
}

/** With the number of lines that are left out. */
function firstLines(lines: readonly string[]): string[] {
  const more = lines.length - errorLinesMax;
  const note = more > 0 ? [`… and ${formatQuantity(more, 'more line')}`] : [];
  return [...lines.slice(0, errorLinesMax), ...note];
}
