/** `caller-stats organization`: creates, renames and lists organizations, which own projects, keys and members. */
import type { Command } from 'commander';
import { organizationToJson } from '../../app/json.js';
import { createOrganization } from '../../app/projects.js';
import { nameCharactersMax } from '../../domain/limits.js';
import { PROJECT_ID_PATTERN, parseName } from '../../domain/projects/project.js';
import type { Io } from '../io.js';
import { addStoreAction, readNewName, requireValue } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addOrganizationCommand(program: Command, io: Io): void {
  const organization = program
    .command('organization')
    .description('creates, renames and lists organizations');

  const create = organization
    .command('create')
    .description('creates an organization and prints its id')
    .argument('<name>', `a name for people, 1 to ${nameCharactersMax} characters`)
    .option('--id <id>', `its id: ${PROJECT_ID_PATTERN} (default: a generated one)`);
  addStoreAction(create, io, {
    json: 'print the organization as JSON',
    hasOrganization: false,
    mustExist: false,
    parse: ({ id }: { id?: string }, name) => readNewName(name, id),
    run: async ({ store, input, by }) => {
      const created = await createOrganization({ store, randomInt: io.randomInt }, input, by);
      return { json: organizationToJson(created), text: created.id };
    },
  });

  const change = organization
    .command('change')
    .description('renames an organization; its id stays')
    .argument('<id>', 'its id, from organization list')
    .requiredOption('--name <name>', `its new name, 1 to ${nameCharactersMax} characters`);
  addStoreAction(change, io, {
    json: 'print the organization as JSON',
    hasOrganization: false,
    parse: ({ name }: { name: string }, id) => ({ id, name: requireValue(parseName(name), '--name: ') }),
    run: async ({ store, input: { id, name }, by }) => {
      const renamed = await store.renameOrganization(id, name, by);
      return { json: organizationToJson(renamed), text: `changed ${id} (${renamed.name})` };
    },
  });

  addStoreAction(organization.command('list').description('lists the organizations'), io, {
    json: 'print them as JSON',
    hasOrganization: false,
    run: async ({ store }) => {
      const json = (await store.listOrganizations()).map(organizationToJson);
      const rows = json.map(({ id, name, createdAt }) => [id, name, createdAt]);
      return { json, text: formatTable(['ID', 'NAME', 'CREATED'], rows) };
    },
  });
}
