/** `caller-stats migrate`: updates the schema, and distributes it over a Citus cluster. */
import type { Command } from 'commander';
import { type Migrated, migrateStore } from '../../storage/open.js';
import type { Io } from '../io.js';
import { settingOption } from '../settings/settings.js';
import { addAction, connectionLimits, readStoreSettings } from '../store-command.js';

export function addMigrateCommand(program: Command, io: Io): void {
  const command = program
    .command('migrate')
    .description('updates the database schema; all other commands do so too, if their database user may')
    .option(
      '--distribute',
      'on PostgreSQL with Citus, distribute projects and their queries over the workers; recording waits meanwhile',
    )
    .option('--no-backup', 'do not keep a copy of a SQLite database of an older version')
    .addOption(settingOption('database'));
  const json = 'print the changes as JSON';
  addAction(command, io, json, async (options: { distribute?: boolean; backup: boolean }) => {
    const { distribute = false, backup } = options;
    const settings = readStoreSettings(options, io);
    const how = { ...connectionLimits(settings), distribute, backup };
    const migrated = await migrateStore(settings.database, how);
    const { version, distributed, kept } = migrated;
    const text = [
      describeChange(migrated),
      ...(kept === null ? [] : [`A copy of the previous database is ${kept}.`]),
      ...distributed.map((name) => `distributed ${name}`),
      ...(distribute && distributed.length === 0 ? ['Everything is distributed already.'] : []),
    ];
    return { json: { version, distributed, kept }, text };
  });
}

function describeChange({ before, version }: Migrated): string {
  if (before === 0) return `The schema was created, at version ${version}.`;
  return before < version
    ? `The schema was upgraded from version ${before} to ${version}.`
    : `The schema is up to date, at version ${version}.`;
}
