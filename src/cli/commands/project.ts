/** `caller-stats project`: creates, lists, changes and deletes projects. */
import type { Command } from 'commander';
import { projectToJson } from '../../app/json.js';
import { changeProject, createProject, deleteProject } from '../../app/projects.js';
import { CallerStatsError } from '../../domain/errors.js';
import { nameCharactersMax, retentionDaysMax } from '../../domain/limits.js';
import { PROJECT_ID_PATTERN, parseName } from '../../domain/projects/project.js';
import { parseRetentionDays } from '../../domain/projects/retention.js';
import { collectProblems, prefixProblems, success } from '../../domain/result.js';
import { parseTimeZone } from '../../domain/time/time-zone.js';
import { type Io, UsageError } from '../io.js';
import { purgeAll } from '../jobs/purge.js';
import { addStoreAction, readNewName } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addProjectCommand(program: Command, io: Io): void {
  const project = program.command('project').description('creates, lists, changes and deletes projects');
  addCreate(project, io);
  addList(project, io);
  addChange(project, io);
  addDelete(project, io);
}

function addCreate(project: Command, io: Io): void {
  const command = project
    .command('create')
    .description('creates a project and prints its id')
    .argument('<name>', `a name for people, 1 to ${nameCharactersMax} characters`)
    .option('--id <id>', `its id, which appears in URLs: ${PROJECT_ID_PATTERN} (default: a generated one)`);
  addStoreAction(command, io, {
    json: 'print the project as JSON',
    mustExist: false,
    parse: ({ id }: { id?: string }, name) => readNewName(name, id),
    run: async ({ store, organizationId, input, by }) => {
      const wanted = { organizationId, ...input };
      const created = await createProject({ store, randomInt: io.randomInt }, wanted, by);
      return { json: projectToJson(created), text: created.id };
    },
  });
}

function addList(project: Command, io: Io): void {
  addStoreAction(project.command('list').description('lists the projects'), io, {
    json: 'print them as JSON',
    run: async ({ store, organizationId }) => {
      const json = (await store.listProjects(organizationId)).map(projectToJson);
      const rows = json.map((row) => [
        row.id,
        row.name,
        row.createdAt,
        row.timeZone ?? '(reader’s)',
        row.retentionDays === null ? 'none' : `${row.retentionDays}d`,
        row.rowsFrom ?? '',
      ]);
      const titles = ['ID', 'NAME', 'CREATED', 'TIME ZONE', 'RETENTION', 'ROWS FROM'];
      return { json, text: formatTable(titles, rows) };
    },
  });
}

interface ChangeOptions {
  readonly name?: string;
  readonly timeZone?: string;
  readonly retentionDays?: string;
}

function addChange(project: Command, io: Io): void {
  const command = project
    .command('change')
    .description('changes the properties of a project that are given')
    .argument('<id>', 'its id, from project list')
    .option('--name <name>', `a name for people, 1 to ${nameCharactersMax} characters`)
    .option('--time-zone <zone>', "an IANA name such as Europe/Berlin, or none for the reader's own")
    .option(
      '--retention-days <days>',
      `days after which queries lose their rows, but not their counts: 1 to ${retentionDaysMax}, or none for never`,
    );
  addStoreAction(command, io, {
    json: 'print the project as JSON',
    parse: (options: ChangeOptions, id) => ({ id, change: readChange(options) }),
    run: async ({ store, organizationId, input: { id, change }, by }) => {
      const changed = await changeProject(store, { organizationId, id }, change, by);
      return { json: projectToJson(changed), text: `changed ${id} (${changed.name})` };
    },
  });
}

/** Throws `UsageError` with every problem. */
function readChange({ name, timeZone, retentionDays }: ChangeOptions) {
  if ((name ?? timeZone ?? retentionDays) === undefined)
    throw new UsageError(['project change: give at least one of --name, --time-zone, --retention-days']);
  const parsed = {
    name: name === undefined ? success(name) : prefixProblems('--name', parseName(name)),
    timeZone:
      timeZone === undefined || timeZone === 'none'
        ? success(timeZone && null)
        : prefixProblems('--time-zone', parseTimeZone(timeZone)),
    retentionDays:
      retentionDays === undefined
        ? success(retentionDays)
        : prefixProblems('--retention-days', parseRetentionDays(retentionDays)),
  };
  const problems = collectProblems(...Object.values(parsed));
  if (!(parsed.name.ok && parsed.timeZone.ok && parsed.retentionDays.ok)) throw new UsageError(problems);
  return {
    name: parsed.name.value,
    timeZone: parsed.timeZone.value,
    retentionDays: parsed.retentionDays.value,
  };
}

function addDelete(project: Command, io: Io): void {
  const command = project
    .command('delete')
    .description('deletes a project forever, with its recording keys, its queries and its counts')
    .argument('<id>', 'its id, from project list')
    .requiredOption('--confirm <name>', 'the name of the project, to make sure that it is the right one')
    .addHelpText(
      'after',
      '\nThe project is gone at once. Removing its data takes a while; if interrupted, a running server continues.',
    );
  addStoreAction(command, io, {
    json: 'print the deleted project as JSON',
    parse: ({ confirm }: { confirm: string }, id) => ({ id, confirm }),
    run: async ({ store, organizationId, input: { id, confirm }, by }) => {
      const confirmation = { name: confirm, field: '--confirm' };
      try {
        const deleted = await deleteProject(store, { organizationId, id }, confirmation, by);
        await purgeAll(store);
        return { json: projectToJson(deleted), text: `deleted ${id} (${deleted.name})` };
      } catch (error) {
        if (!(error instanceof CallerStatsError && error.code === 'invalid')) throw error;
        throw new UsageError(error.details.map((detail) => `${detail}; project list shows its name`));
      }
    },
  });
}
