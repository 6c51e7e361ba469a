/** `caller-stats migrate`: brings the schema up to date, and spreads it over a cluster. */
import type { Command } from 'commander';
import { migrateStore } from '../../storage/open.js';
import type { Io } from '../io.js';
import { readSettings, STORE_SETTINGS, settingOption } from '../settings/settings.js';
import { printJson, printLine } from '../terminal/output.js';

export function addMigrateCommand(program: Command, io: Io): void {
  program
    .command('migrate')
    .description(
      "brings the database's schema up to date; every other command does so by itself, if its user may",
    )
    .option(
      '--distribute',
      'on PostgreSQL with Citus, spread projects and their queries over the workers; recording waits meanwhile',
    )
    .option(
      '--no-backup',
      'keep no copy of a SQLite database of an older version; otherwise one stays beside it',
    )
    .addOption(settingOption('database'))
    .option('--json', 'print what was done as JSON')
    .action(async (options: { distribute?: boolean; backup: boolean; json?: boolean }) => {
      const { database, databaseConnectionsMax, databaseTimeoutMs } = readSettings(
        STORE_SETTINGS,
        { ...options },
        io.env,
      );
      const { version, distributed, kept } = await migrateStore(database, {
        connectionsMax: databaseConnectionsMax,
        timeoutMs: databaseTimeoutMs,
        distribute: options.distribute ?? false,
        backup: options.backup,
      });
      if (options.json) return printJson(io.stdout, { version, distributed, kept });
      printLine(io.stdout, `The schema is up to date, at version ${version}.`);
      if (kept !== null) printLine(io.stdout, `What was there before is ${kept}.`);
      for (const name of distributed) printLine(io.stdout, `distributed ${name}`);
      if (options.distribute && distributed.length === 0) {
        printLine(io.stdout, 'Everything is distributed already.');
      }
    });
}
