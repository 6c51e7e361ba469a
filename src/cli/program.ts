/** The command line: the list of commands, and the exit status of each error. */
import { Command, CommanderError } from 'commander';
import { CallerStatsError, describeError } from '../domain/errors.js';
import { type Io, UsageError } from './io.js';
import { printLine } from './terminal/output.js';

type Add = (program: Command, io: Io, about: { version: string; fail: () => void }) => Promise<void>;

/** In the order of the help. Each command loads its own code, because loading all takes longer than most commands run. */
const COMMANDS: Readonly<Record<string, Add>> = {
  serve: async (program, io, { version }) =>
    (await import('./commands/serve.js')).addServeCommand(program, io, version),
  project: async (program, io) => (await import('./commands/project.js')).addProjectCommand(program, io),
  key: async (program, io) => (await import('./commands/key.js')).addKeyCommand(program, io),
  organization: async (program, io) =>
    (await import('./commands/organization.js')).addOrganizationCommand(program, io),
  member: async (program, io) => (await import('./commands/member.js')).addMemberCommand(program, io),
  audit: async (program, io) => (await import('./commands/audit.js')).addAuditCommand(program, io),
  import: async (program, io, { fail }) =>
    (await import('./commands/import.js')).addImportCommand(program, io, fail),
  stats: async (program, io) => (await import('./commands/stats.js')).addStatsCommand(program, io),
  mcp: async (program, io, { version }) =>
    (await import('./commands/mcp.js')).addMcpCommand(program, io, version),
  verify: async (program, io, { fail }) =>
    (await import('./commands/verify.js')).addVerifyCommand(program, io, fail),
  migrate: async (program, io) => (await import('./commands/migrate.js')).addMigrateCommand(program, io),
  backup: async (program, io) => (await import('./commands/backup.js')).addBackupCommand(program, io),
  restore: async (program, io) => (await import('./commands/backup.js')).addRestoreCommand(program, io),
  copy: async (program, io, { fail }) =>
    (await import('./commands/copy.js')).addCopyCommand(program, io, fail),
};

/** Runs a command. Returns the exit status: 0, 1 for a failure, 2 for wrong usage. Never throws. */
export async function run(args: readonly string[], io: Io, version: string): Promise<0 | 1 | 2> {
  let failed = false;
  const fail = () => {
    failed = true;
  };
  try {
    const program = await buildProgram(io, version, fail, args[0]);
    await program.parseAsync(args, { from: 'user' });
    return failed ? 1 : 0;
  } catch (error) {
    return report(error, io);
  }
}

/** Builds the command `only`, or all commands if it does not exist. A command calls `fail` to exit with status 1. */
export async function buildProgram(
  io: Io,
  version: string,
  fail: () => void,
  only?: string,
): Promise<Command> {
  const program = new Command('caller-stats');
  program
    .description(
      'Counts the queries that people send to the assistant of a documentation site, exactly, by caller.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .showHelpAfterError('(see --help)');
  const names = Object.hasOwn(COMMANDS, only ?? '') ? [only] : Object.keys(COMMANDS);
  for (const name of names) await COMMANDS[name ?? '']?.(program, io, { version, fail });
  return program;
}

function report(error: unknown, io: Io): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    for (const line of error.message.split('\n')) printLine(io.stderr, `caller-stats: ${line}`);
    return 2;
  }
  if (error instanceof CallerStatsError) {
    printLine(io.stderr, `caller-stats: ${describeError(error).join('\n')}`);
    return 1;
  }
  printLine(
    io.stderr,
    `caller-stats: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return 1;
}
