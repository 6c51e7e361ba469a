/** `caller-stats backup`, `restore` and `compact`: copy a SQLite database to a file and back, and make it small. */

import type { Command } from 'commander';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { parseGenerations } from '../../domain/time/generations.js';
import { backUpStore, type Contents, compactStore, restoreStore } from '../../storage/backup.js';
import { addGeneration } from '../backup-folder.js';
import { type Io, UsageError } from '../io.js';
import { readSettings, settingOption } from '../settings/settings.js';
import { addAction, readStoreSettings, requireValue } from '../store-command.js';

interface BackupOptions {
  readonly replace?: boolean;
  readonly keep?: string;
}

export function addBackupCommand(program: Command, io: Io): void {
  const command = program
    .command('backup')
    .description('copies a SQLite database to a file; servers may keep running')
    .argument('<file>', 'the file to write, or with --keep the folder; never left incomplete')
    .option('--replace', 'replace an existing file')
    .option(
      '--keep <generations>',
      'add a backup with the time in its name, restore it for a check, and then remove all but the newest of each of so many ' +
        'days, weeks and months, such as 7d,4w,12m',
    )
    .addOption(settingOption('database'));
  const json = 'print the contents of the backup as JSON';
  addAction(command, io, json, async ({ replace = false, keep, ...options }: BackupOptions, [file = '']) => {
    const generations = keep === undefined ? undefined : requireValue(parseGenerations(keep), '--keep: ');
    if (generations !== undefined && replace)
      throw new UsageError(['--replace: leave it out; with --keep, each backup has a name of its own']);
    const { database } = readStoreSettings(options, io);
    if (generations !== undefined) {
      const added = await addGeneration(database, file, generations, io.clock.now());
      const older = formatQuantity(added.removed.length, 'older backup');
      return {
        json: added,
        text: `${added.file} has ${describeContents(added)}. It was restored and verified. Removed ${older}.`,
      };
    }
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

export function addCompactCommand(program: Command, io: Io): void {
  const command = program
    .command('compact')
    .description('gives free space of a SQLite database back to the disk; stop all of its servers first')
    .addOption(settingOption('database'))
    .addHelpText(
      'after',
      '\nFree space is what deleted projects and retention have left; new queries use it again. The disk needs room for a second copy\n' +
        'meanwhile. If interrupted, nothing has changed.',
    );
  addAction(command, io, 'print the sizes in bytes as JSON', async (options) => {
    const { database } = readStoreSettings(options, io);
    const compacted = await compactStore(database);
    const { bytesBefore, bytes } = compacted;
    return {
      json: compacted,
      text: `The database has ${formatCount(bytes)} bytes, ${formatCount(Math.max(bytesBefore - bytes, 0))} fewer than before.`,
    };
  });
}

function describeContents({ projects, queries, bytes }: Contents): string {
  const recorded = formatQuantity(queries, 'query', 'queries');
  return `${recorded} in ${formatQuantity(projects, 'project')} (${formatCount(bytes)} bytes)`;
}
