/** `caller-stats backup` and `restore`: copy a SQLite database to a file and back. */

import type { Command } from 'commander';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { backUpStore, type Contents, restoreStore } from '../../storage/backup.js';
import type { Io } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { readStoreSettings } from '../store-command.js';
import { printJson, printLine } from '../terminal/output.js';

interface BackupOptions {
  readonly replace?: boolean;
  readonly json?: boolean;
}

export function addBackupCommand(program: Command, io: Io): void {
  program
    .command('backup')
    .description('copies a SQLite database to a file; servers may keep running')
    .argument('<file>', 'the file to write; never left incomplete')
    .option('--replace', 'replace an existing file')
    .addOption(settingOption('database'))
    .option('--json', 'print the contents of the backup as JSON')
    .action(async (file: string, options: BackupOptions) => {
      const { database } = readStoreSettings(options, io);
      const contents = await backUpStore(database, file, { replace: options.replace ?? false });
      if (options.json) printJson(io.stdout, contents);
      else printLine(io.stdout, `${file} has ${describeContents(contents)}.`);
    });
}

export function addRestoreCommand(program: Command, io: Io): void {
  program
    .command('restore')
    .description('restores a SQLite database from a backup; stop all of its servers first')
    .argument('<file>', 'a file written by backup, or kept before an upgrade; it is not changed')
    .option('--replace', 'replace an existing database, which is kept under another name')
    .addOption(settingOption('database'))
    .option('--json', 'print the contents of the restored database as JSON')
    .action(async (file: string, options: BackupOptions) => {
      const { database } = readStoreSettings(options, io);
      const restored = await restoreStore(file, database, {
        replace: options.replace ?? false,
        nowMs: io.clock.now(),
      });
      if (options.json) return printJson(io.stdout, restored);
      printLine(io.stdout, `The database has ${describeContents(restored)}.`);
      if (restored.kept !== null) printLine(io.stdout, `What was there before is ${restored.kept}.`);
    });
}

function describeContents({ projects, queries, bytes }: Contents): string {
  const recorded = formatQuantity(queries, 'query', 'queries');
  return `${recorded} in ${formatQuantity(projects, 'project')} (${formatCount(bytes)} bytes)`;
}
