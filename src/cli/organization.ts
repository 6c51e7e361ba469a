/** `caller-stats organization`: makes and lists organizations, which own projects, keys and members. */
import type { Command } from 'commander';
import { nameCharactersMax } from '../domain/limits.js';
import { generateId, isName, isProjectId, PROJECT_ID_PATTERN } from '../domain/project.js';
import { atCommandLine } from './actor.js';
import { allOrProblems, type Io, UsageError } from './io.js';
import { formatTime, printJson, printLine, printTable } from './output.js';
import { readSettings, STORE_SETTINGS, settingOption } from './settings.js';
import { existing, withStore } from './with-store.js';

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
        () => readSettings(STORE_SETTINGS, { ...options }, io.env),
        () => checkNewOrganization(name, options.id),
      );
      const by = atCommandLine(io.clock);
      const created = { id: options.id ?? generateId(io.randomInt), name, createdAt: by.at };
      await withStore(settings, {}, (store) => store.createOrganization(created, by));
      if (options.json) printJson(io.stdout, { ...created, createdAt: formatTime(created.createdAt) });
      else printLine(io.stdout, created.id);
    });

  organization
    .command('list')
    .description('lists the organizations')
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: boolean }) => {
      const settings = readSettings(STORE_SETTINGS, { ...options }, io.env);
      const organizations = await withStore(settings, existing, (store) => store.listOrganizations());
      const rows = organizations.map(({ id, name, createdAt }) => ({
        id,
        name,
        createdAt: formatTime(createdAt),
      }));
      if (options.json) return printJson(io.stdout, rows);
      printTable(
        io.stdout,
        ['ID', 'NAME', 'CREATED'],
        rows.map(({ id, name, createdAt }) => [id, name, createdAt]),
      );
    });
}

function checkNewOrganization(name: string, id: string | undefined): void {
  const problems: string[] = [];
  if (!isName(name)) problems.push(`NAME: is not 1 to ${nameCharactersMax} visible characters`);
  if (id !== undefined && !isProjectId(id)) problems.push(`--id: does not match ${PROJECT_ID_PATTERN}`);
  if (problems.length > 0) throw new UsageError(problems);
}
