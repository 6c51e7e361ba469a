/** `project delete`: a project, with all that was recorded into it. */

import type { Command } from 'commander';
import { toListedProject } from '../../../app/listed.js';
import { CallerStatsError } from '../../../domain/errors.js';
import type { Project } from '../../../domain/projects/project.js';
import { type Io, UsageError } from '../../io.js';
import { purgeAll } from '../../jobs/purge.js';
import { settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, readStoreSettings, runOnStore } from '../../store-options.js';
import { printJson, printLine } from '../../terminal/output.js';

interface DeleteOptions {
  readonly organization: string;
  readonly confirm: string;
  readonly json?: boolean;
}

export function addDeleteCommand(project: Command, io: Io): void {
  project
    .command('delete')
    .description('deletes a project for ever, with its recording keys, its queries and its counts')
    .argument('<id>', 'its id, from project list')
    .requiredOption('--confirm <name>', "the project's name, so that it is not another one")
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print the project that was deleted as JSON')
    .addHelpText(
      'after',
      '\nIt is gone at once. Removing what it had recorded takes a while; if it is interrupted, a server goes on with it.',
    )
    .action(async (id: string, options: DeleteOptions) => {
      const settings = readStoreSettings(options, io);
      const { organization, confirm, json } = options;
      const deleted = await runOnStore(settings, async (store) => {
        const found = await store.findProject(organization, id);
        requireName(id, found, confirm);
        await store.deleteProject(organization, id, commandLineActor(io.clock));
        await purgeAll(store);
        return found;
      });
      if (json) printJson(io.stdout, toListedProject(deleted));
      else printLine(io.stdout, `deleted ${id} (${deleted.name})`);
    });
}

function requireName(id: string, project: Project | undefined, confirm: string): asserts project is Project {
  if (project === undefined) throw new CallerStatsError('not_found', `There is no project ${id}.`);
  if (project.name !== confirm) {
    throw new UsageError([
      `--confirm: is not the name of the project ${id}, so nothing was deleted; project list shows its name`,
    ]);
  }
}
