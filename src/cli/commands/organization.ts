/** `caller-stats organization`: creates, changes and lists organizations, which own projects, keys and members. */
import { type Command, Option } from 'commander';
import { organizationToJson } from '../../app/json.js';
import { createOrganization } from '../../app/projects.js';
import { nameCharactersMax } from '../../domain/limits.js';
import { parseName } from '../../domain/names.js';
import { SECOND_FACTOR_RULES, type SecondFactorRule } from '../../domain/projects/organization.js';
import { PROJECT_ID_PATTERN } from '../../domain/projects/project.js';
import { type Io, UsageError } from '../io.js';
import { addStoreAction, readNewName, requireValue } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addOrganizationCommand(program: Command, io: Io): void {
  const organization = program
    .command('organization', { hidden: true })
    .description(
      'creates, changes and lists organizations, for servers with several: commands take --organization ID then',
    );

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
      const notes = [
        `Commands work on the organization default; --organization ${created.id} chooses this one. See caller-stats organization --help.`,
      ];
      return { json: organizationToJson(created), text: created.id, notes };
    },
  });

  const change = organization
    .command('change')
    .description('renames an organization, or changes whether its members need a second factor')
    .argument('<id>', 'its id, from organization list')
    .option('--name <name>', `its new name, 1 to ${nameCharactersMax} characters; its id stays`)
    .addOption(
      new Option(
        '--second-factor <rule>',
        'required: members without a second factor see nothing of it until they set one up',
      ).choices(SECOND_FACTOR_RULES),
    );
  addStoreAction(change, io, {
    json: 'print the organization as JSON',
    hasOrganization: false,
    parse: ({ name, secondFactor }: { name?: string; secondFactor?: SecondFactorRule }, id) => {
      if (name === undefined && secondFactor === undefined)
        throw new UsageError(['nothing to change: give --name or --second-factor']);
      return {
        id,
        change: {
          ...(name !== undefined && { name: requireValue(parseName(name), '--name: ') }),
          ...(secondFactor !== undefined && { secondFactor }),
        },
      };
    },
    run: async ({ store, input: { id, change }, by }) => {
      const changed = await store.directory.changeOrganization(id, change, by);
      return { json: organizationToJson(changed), text: `changed ${id} (${changed.name})` };
    },
  });

  addStoreAction(organization.command('list').description('lists the organizations'), io, {
    json: 'print them as JSON',
    hasOrganization: false,
    run: async ({ store }) => {
      const json = (await store.directory.listOrganizations()).map(organizationToJson);
      const rows = json.map(({ id, name, createdAt, secondFactor }) => [id, name, createdAt, secondFactor]);
      return { json, text: formatTable(['ID', 'NAME', 'CREATED', 'SECOND FACTOR'], rows) };
    },
  });
}
