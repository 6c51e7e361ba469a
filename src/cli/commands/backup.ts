/** `caller-stats backup` and `restore`: everything of a SQLite database in one file, and back. */

import type { Command } from 'commander';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { backUpStore, type Contents, restoreStore } from '../../storage/backup.js';
import type { Io } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { readStoreSettings } from '../store-options.js';
import { printJson, printLine } from '../terminal/output.js';

interface BackupOptions {
  readonly replace?: boolean;
  readonly json?: boolean;
}

export function addBackupCommand(program: Command, io: Io): void {
  program
    .command('backup')
    .description('writes everything that is in a SQLite database to one file, while servers work on it')
    .argument('<file>', 'the file to write; it is whole or not there')
    .option('--replace', 'replace the file, if there is one')
    .addOption(settingOption('database'))
    .option('--json', 'print what is in the backup as JSON')
    .action(async (file: string, options: BackupOptions) => {
      const { database } = readStoreSettings(options, io);
      const contents = await backUpStore(database, file, { replace: options.replace ?? false });
      if (options.json) printJson(io.stdout, contents);
      else printLine(io.stdout, `${file} has ${inWords(contents)}.`);
    });
}

export function addRestoreCommand(program: Command, io: Io): void {
  program
    .command('restore')
    .description('puts a backup in the place of a SQLite database; no server may be working on it')
    .argument('<file>', 'a file that backup wrote, or that was kept before an upgrade; it stays as it is')
    .option('--replace', 'replace the database, if there is one; it is kept under another name')
    .addOption(settingOption('database'))
    .option('--json', 'print what is in the database now as JSON')
    .action(async (file: string, options: BackupOptions) => {
      const { database } = readStoreSettings(options, io);
      const restored = await restoreStore(file, database, {
        replace: options.replace ?? false,
        nowMs: io.clock.now(),
      });
      if (options.json) return printJson(io.stdout, restored);
      printLine(io.stdout, `The database has ${inWords(restored)}.`);
      if (restored.kept !== null) printLine(io.stdout, `What was there before is ${restored.kept}.`);
    });
}

function inWords({ projects, queries, bytes }: Contents): string {
  const recorded = formatQuantity(queries, 'query', 'queries');
  return `${recorded} in ${formatQuantity(projects, 'project')} (${formatCount(bytes)} bytes)`;
}
