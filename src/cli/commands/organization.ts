/** `caller-stats organization`: makes and lists organizations, which own projects, keys and members. */

import type { Command } from 'commander';
import { nameCharactersMax } from '../../domain/limits.js';
import { generateId, PROJECT_ID_PATTERN } from '../../domain/projects/project.js';
import { allOrProblems, type Io } from '../io.js';
import { checkNewNamed, printNamed, toListedNamed } from '../options/named.js';
import { settingOption } from '../settings/settings.js';
import { commandLineActor, readStoreSettings, runOnStore } from '../store-options.js';
import { printJson, printLine } from '../terminal/output.js';

export function addOrganizationCommand(program: Command, io: Io): void {
  const organization = program.command('organization').description('makes and lists organizations');

  organization
    .command('create')
    .description('makes an organization and prints its id')
    .argument('<name>', `what people call it; 1 to ${nameCharactersMax} characters`)
    .option('--id <id>', `its id: ${PROJECT_ID_PATTERN} (default: a new one)`)
    .addOption(settingOption('database'))
    .option('--json', 'print the organization as JSON')
    .action(async (name: string, options: { id?: string; json?: boolean }) => {
      const [settings] = allOrProblems(
        () => readStoreSettings(options, io),
        () => checkNewNamed(name, options.id),
      );
      const by = commandLineActor(io.clock);
      const created = { id: options.id ?? generateId(io.randomInt), name, createdAt: by.at };
      await runOnStore(settings, (store) => store.createOrganization(created, by), { mustExist: false });
      if (options.json) printJson(io.stdout, toListedNamed(created));
      else printLine(io.stdout, created.id);
    });

  organization
    .command('list')
    .description('lists the organizations')
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: boolean }) => {
      const settings = readStoreSettings(options, io);
      const organizations = await runOnStore(settings, (store) => store.listOrganizations());
      printNamed(organizations, options, io);
    });
}
