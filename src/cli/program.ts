/** The command line: which commands there are, and what an error's exit status is. */
import { Command, CommanderError } from 'commander';
import { CallerStatsError } from '../domain/errors.js';
import { addAuditCommand } from './audit.js';
import { addBackupCommand, addRestoreCommand } from './backup.js';
import { addCopyCommand } from './copy/command.js';
import { errorLines } from './error-lines.js';
import { addImportCommand } from './import/command.js';
import { type Io, UsageError } from './io.js';
import { addKeyCommand } from './key/command.js';
import { addMcpCommand } from './mcp/command.js';
import { addMemberCommand } from './member.js';
import { addMigrateCommand } from './migrate.js';
import { addOrganizationCommand } from './organization.js';
import { printLine } from './output.js';
import { addProjectCommand } from './project/command.js';
import { addServeCommand } from './serve.js';
import { addStatsCommand } from './stats.js';
import { addVerifyCommand } from './verify.js';

/** Runs one command. Gives the exit status: 0, 1 for a failure, 2 for wrong usage. Never throws. */
export async function run(args: readonly string[], io: Io, version: string): Promise<0 | 1 | 2> {
  let failed = false;
  const program = buildProgram(io, version, () => {
    failed = true;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return failed ? 1 : 0;
  } catch (error) {
    return report(error, io);
  }
}

/** All commands. `fail` is called by one that did its work and found something wrong. */
export function buildProgram(io: Io, version: string, fail: () => void): Command {
  const program = new Command('caller-stats');
  program
    .description(
      'Counts the questions people ask the assistant of a documentation site, exactly, by who sent them.',
    )
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .showHelpAfterError('(--help says more)');
  addServeCommand(program, io, version);
  addProjectCommand(program, io);
  addKeyCommand(program, io);
  addOrganizationCommand(program, io);
  addMemberCommand(program, io);
  addAuditCommand(program, io);
  addImportCommand(program, io, fail);
  addStatsCommand(program, io);
  addMcpCommand(program, io, version);
  addVerifyCommand(program, io, fail);
  addMigrateCommand(program, io);
  addBackupCommand(program, io);
  addRestoreCommand(program, io);
  addCopyCommand(program, io, fail);
  return program;
}

function report(error: unknown, io: Io): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    for (const line of error.message.split('\n')) printLine(io.stderr, `caller-stats: ${line}`);
    return 2;
  }
  if (error instanceof CallerStatsError) {
    printLine(io.stderr, `caller-stats: ${errorLines(error).join('\n')}`);
    return 1;
  }
  printLine(
    io.stderr,
    `caller-stats: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
  );
  return 1;
}
