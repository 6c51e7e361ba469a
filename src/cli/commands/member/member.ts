/** `caller-stats member`: the people of an organization, and what each may do. */

import type { Command } from 'commander';
import { formatTime } from '../../../domain/format.js';
import type { Io } from '../../io.js';
import { settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, readStoreSettings, runOnStore } from '../../store-options.js';
import { printJson, printLine, printTable } from '../../terminal/output.js';
import { addInvite, addReset } from './access.js';
import { type MemberOptions, readMember, roleOption } from './options.js';

export function addMemberCommand(program: Command, io: Io): void {
  const member = program
    .command('member')
    .description('adds, invites, lists, changes and removes members of an organization');
  addAdd(member, io);
  addList(member, io);
  addChange(member, io);
  addRemove(member, io);
  addInvite(member, io);
  addReset(member, io);
}

function addAdd(member: Command, io: Io): void {
  member
    .command('add')
    .description('adds a member')
    .argument('<email>', 'e-mail address, whose case does not matter')
    .addOption(roleOption().default('viewer'))
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print the member as JSON')
    .action(async (text: string, options: MemberOptions) => {
      const [settings, email] = readMember(text, options, io);
      const by = commandLineActor(io.clock);
      const added = { organizationId: options.organization, email, role: options.role, createdAt: by.at };
      await runOnStore(settings, (store) => store.addMember(added, by));
      report({ email, role: options.role }, `added ${email} as ${options.role}`, options, io);
    });
}

function addList(member: Command, io: Io): void {
  member
    .command('list')
    .description('lists the members')
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print them as JSON')
    .action(async (options: MemberOptions) => {
      const settings = readStoreSettings(options, io);
      const members = await runOnStore(settings, (store) => store.listMembers(options.organization));
      const rows = members.map(({ email, role, createdAt }) => ({
        email,
        role,
        createdAt: formatTime(createdAt),
      }));
      if (options.json) return printJson(io.stdout, rows);
      printTable(
        io.stdout,
        ['E-MAIL', 'ROLE', 'SINCE'],
        rows.map(({ email, role, createdAt }) => [email, role, createdAt]),
      );
    });
}

function addChange(member: Command, io: Io): void {
  member
    .command('change')
    .description('gives a member another role')
    .argument('<email>', "the member's e-mail address")
    .addOption(roleOption().makeOptionMandatory())
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print the member as JSON')
    .action(async (text: string, options: MemberOptions) => {
      const [settings, email] = readMember(text, options, io);
      await runOnStore(settings, (store) =>
        store.changeMember(options.organization, email, options.role, commandLineActor(io.clock)),
      );
      report({ email, role: options.role }, `${email} is ${options.role} now`, options, io);
    });
}

function addRemove(member: Command, io: Io): void {
  member
    .command('remove')
    .description('removes a member')
    .argument('<email>', "the member's e-mail address")
    .addOption(organizationOption())
    .addOption(settingOption('database'))
    .option('--json', 'print who was removed as JSON')
    .action(async (text: string, options: MemberOptions) => {
      const [settings, email] = readMember(text, options, io);
      await runOnStore(settings, (store) =>
        store.removeMember(options.organization, email, commandLineActor(io.clock)),
      );
      report({ email }, `removed ${email}`, options, io);
    });
}

function report(value: object, line: string, { json }: MemberOptions, io: Io): void {
  if (json) printJson(io.stdout, value);
  else printLine(io.stdout, line);
}
