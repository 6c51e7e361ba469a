/** `caller-stats key`: the life of API keys. */
import type { Command } from 'commander';
import { toListedKey } from '../../../app/listed.js';
import type { Io } from '../../io.js';
import { settingOption } from '../../settings/settings.js';
import { organizationOption, readStoreSettings, runOnStore } from '../../store-options.js';
import { printJson, printTable } from '../../terminal/output.js';
import { addChangeCommands } from './change.js';
import { addCreateCommand } from './create.js';
import { addRotateCommand } from './rotate.js';

export function addKeyCommand(program: Command, io: Io): void {
  const key = program.command('key').description('makes, lists, rotates, disables and revokes API keys');
  addCreateCommand(key, io);
  addListCommand(key, io);
  addRotateCommand(key, io);
  addChangeCommands(key, io);
}

function addListCommand(key: Command, io: Io): void {
  key
    .command('list')
    .description('lists the API keys, disabled, expired and revoked ones included')
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: { organization: string; json?: boolean }) => {
      const settings = readStoreSettings(options, io);
      const keys = await runOnStore(settings, (store) => store.listKeys(options.organization));
      const rows = keys.map((one) => toListedKey(one, io.clock.now()));
      if (options.json) return printJson(io.stdout, rows);
      printTable(
        io.stdout,
        [
          'ID',
          'NAME',
          'TYPE',
          'PROJECT',
          'KEY',
          'STATUS',
          'SCOPES',
          'FROM',
          'CREATED',
          'BY',
          'EXPIRES',
          'LAST USED',
        ],
        rows.map((row) => [
          row.id,
          row.name,
          row.type,
          row.project ?? '(all)',
          `${row.start}…${row.end}`,
          row.status,
          row.scopes.join(),
          row.allow.join() || '(anywhere)',
          row.createdAt,
          row.createdBy,
          row.expiresAt ?? 'never',
          row.lastUsedAt ?? 'never',
        ]),
      );
    });
}
