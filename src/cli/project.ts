/** `caller-stats project`: makes and lists projects. */
import type { Command } from 'commander';
import { nameCharactersMax } from '../domain/limits.js';
import { generateId, isName, isProjectId, PROJECT_ID_PATTERN } from '../domain/project.js';
import { atCommandLine } from './actor.js';
import { allOrProblems, type Io, UsageError } from './io.js';
import { organizationOption } from './organization-option.js';
import { formatTime, printJson, printLine, printTable } from './output.js';
import { readSettings, STORE_SETTINGS, settingOption } from './settings.js';
import { existing, withStore } from './with-store.js';

export function addProjectCommand(program: Command, io: Io): void {
  const project = program.command('project').description('makes and lists projects');

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
        () => readSettings(STORE_SETTINGS, { ...options }, io.env),
        () => checkNewProject(name, options.id),
      );
      const by = atCommandLine(io.clock);
      const created = {
        id: options.id ?? generateId(io.randomInt),
        organizationId: options.organization,
        name,
        createdAt: by.at,
      };
      await withStore(settings, {}, (store) => store.createProject(created, by));
      if (options.json)
        printJson(io.stdout, { id: created.id, name, createdAt: formatTime(created.createdAt) });
      else printLine(io.stdout, created.id);
    });

  project
    .command('list')
    .description('lists the projects')
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: { organization: string; json?: boolean }) => {
      const settings = readSettings(STORE_SETTINGS, options, io.env);
      const projects = await withStore(settings, existing, (store) =>
        store.listProjects(options.organization),
      );
      const rows = projects.map(({ id, name, createdAt }) => ({
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

function checkNewProject(name: string, id: string | undefined): void {
  const problems: string[] = [];
  if (!isName(name)) problems.push(`NAME: is not 1 to ${nameCharactersMax} visible characters`);
  if (id !== undefined && !isProjectId(id)) problems.push(`--id: does not match ${PROJECT_ID_PATTERN}`);
  if (problems.length > 0) throw new UsageError(problems);
}
