/** `caller-stats backup` and `restore`: copy a SQLite database to a file and back. */

import type { Command } from 'commander';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { backUpStore, type Contents, restoreStore } from '../../storage/backup.js';
import type { Io } from '../io.js';
import { readSettings, settingOption } from '../settings/settings.js';
import { addAction, readStoreSettings } from '../store-command.js';

interface BackupOptions {
  readonly replace?: boolean;
}

export function addBackupCommand(program: Command, io: Io): void {
  const command = program
    .command('backup')
    .description('copies a SQLite database to a file; servers may keep running')
    .argument('<file>', 'the file to write; never left incomplete')
    .option('--replace', 'replace an existing file')
    .addOption(settingOption('database'));
  const json = 'print the contents of the backup as JSON';
  addAction(command, io, json, async ({ replace = false, ...options }: BackupOptions, [file = '']) => {
    const { database } = readStoreSettings(options, io);
    const contents = await backUpStore(database, file, { replace });
    return { json: contents, text: `${file} has ${describeContents(contents)}.` };
  });
}

export function addRestoreCommand(program: Command, io: Io): void {
  const command = program
    .command('restore')
    .description('restores a SQLite database from a backup; stop all of its servers first')
    .argument('<file>', 'a backup, or a copy made before an upgrade; it is not changed')
    .option('--replace', 'replace an existing database, which is renamed')
    .addOption(settingOption('database'));
  const json = 'print the contents of the restored database as JSON';
  addAction(command, io, json, async ({ replace = false, ...options }: BackupOptions, [file = '']) => {
    const { database } = readSettings(['database'], options, io.env);
    const restored = await restoreStore(file, database, { replace, nowMs: io.clock.now() });
    const renamed = restored.kept === null ? [] : [`The previous database is now ${restored.kept}.`];
    return { json: restored, text: [`The database has ${describeContents(restored)}.`, ...renamed] };
  });
}

function describeContents({ projects, queries, bytes }: Contents): string {
  const recorded = formatQuantity(queries, 'query', 'queries');
  return `${recorded} in ${formatQuantity(projects, 'project')} (${formatCount(bytes)} bytes)`;
}
