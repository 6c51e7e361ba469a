/** `caller-stats migrate`: updates the schema, and distributes it over a Citus cluster. */
import type { Command } from 'commander';
import { migrateStore } from '../../storage/open.js';
import type { Io } from '../io.js';
import { readSettings, STORE_SETTINGS, settingOption } from '../settings/settings.js';
import { printJson, printLine } from '../terminal/output.js';

export function addMigrateCommand(program: Command, io: Io): void {
  program
    .command('migrate')
    .description('updates the database schema; all other commands do so too, if their database user may')
    .option(
      '--distribute',
      'on PostgreSQL with Citus, distribute projects and their queries over the workers; recording waits meanwhile',
    )
    .option('--no-backup', 'do not keep a copy of a SQLite database of an older version beside it')
    .addOption(settingOption('database'))
    .option('--json', 'print the changes as JSON')
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
