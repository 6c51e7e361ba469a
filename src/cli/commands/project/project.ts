/** `caller-stats project`: the life of projects. */
import type { Command } from 'commander';
import { toListedProject } from '../../../app/listed.js';
import { createProject } from '../../../app/projects.js';
import { nameCharactersMax } from '../../../domain/limits.js';
import { PROJECT_ID_PATTERN } from '../../../domain/projects/project.js';
import { allOrProblems, type Io } from '../../io.js';
import { checkNewNamed } from '../../options/named.js';
import { settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, readStoreSettings, runOnStore } from '../../store-options.js';
import { printJson, printLine, printTable } from '../../terminal/output.js';
import { addChangeCommand } from './change.js';
import { addDeleteCommand } from './delete.js';

export function addProjectCommand(program: Command, io: Io): void {
  const project = program.command('project').description('makes, lists, changes and deletes projects');
  addCreateCommand(project, io);
  addListCommand(project, io);
  addChangeCommand(project, io);
  addDeleteCommand(project, io);
}

function addCreateCommand(project: Command, io: Io): void {
  project
    .command('create')
    .description('makes a project and prints its id')
    .argument('<name>', `what people call it; 1 to ${nameCharactersMax} characters`)
    .option('--id <id>', `its id, which stands in URLs: ${PROJECT_ID_PATTERN} (default: a new one)`)
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print the project as JSON')
    .action(async (name: string, options: { organization: string; id?: string; json?: boolean }) => {
      const [settings] = allOrProblems(
        () => readStoreSettings(options, io),
        () => checkNewNamed(name, options.id),
      );
      const by = commandLineActor(io.clock);
      const wanted = { id: options.id, organizationId: options.organization, name };
      const created = await runOnStore(
        settings,
        (store) => createProject({ store, randomInt: io.randomInt }, wanted, by),
        { mustExist: false },
      );
      if (options.json) printJson(io.stdout, toListedProject(created));
      else printLine(io.stdout, created.id);
    });
}

function addListCommand(project: Command, io: Io): void {
  project
    .command('list')
    .description('lists the projects')
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: { organization: string; json?: boolean }) => {
      const settings = readStoreSettings(options, io);
      const projects = await runOnStore(settings, (store) => store.listProjects(options.organization));
      const rows = projects.map(toListedProject);
      if (options.json) return printJson(io.stdout, rows);
      printTable(
        io.stdout,
        ['ID', 'NAME', 'CREATED', 'TIME ZONE', 'RETENTION', 'ROWS FROM'],
        rows.map((row) => [
          row.id,
          row.name,
          row.createdAt,
          row.timeZone ?? '(reader’s)',
          row.retentionDays === null ? 'none' : `${row.retentionDays}d`,
          row.rowsFrom ?? '',
        ]),
      );
    });
}
