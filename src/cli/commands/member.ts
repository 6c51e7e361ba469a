/** `caller-stats member`: the members of an organization, their roles, and links that let people in. */
import { type Command, Option } from 'commander';
import { keyToJson, memberToJson, rightsToJson } from '../../app/json.js';
import {
  dismissMember,
  endMemberSessions,
  inviteMember,
  recoverAccount,
  unlinkMember,
} from '../../app/members.js';
import { Mailer } from '../../app/notifications/channels/mailer.js';
import { type MailedLink, mailLink } from '../../app/notifications/link-mail.js';
import { formatQuantity, formatTime } from '../../domain/format.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor } from '../../domain/people/audit.js';
import {
  describeRights,
  type Member,
  parseRights,
  type Rights,
  ROLES,
  type Role,
  toEmail,
} from '../../domain/people/member.js';
import { generateId } from '../../domain/random-text.js';
import { prefixProblems } from '../../domain/result.js';
import type { Store } from '../../storage/ports/store.js';
import { type Io, UsageError } from '../io.js';
import { findSecrets } from '../server/secret-file.js';
import { SECRET_SETTINGS, settingOption, type Values } from '../settings/settings.js';
import { addStoreAction } from '../store-command.js';
import { formatTable } from '../terminal/output.js';

export function addMemberCommand(program: Command, io: Io): void {
  const member = program
    .command('member')
    .description('invites, lists, changes and removes members, and resets their accounts');
  addInvite(member, io);
  addList(member, io);
  addChange(member, io);
  addRemove(member, io);
  addReset(member, io);
}

function roleOption(): Option {
  const what =
    'owner: everything; editor: keys and projects; viewer: reads; reader: reads the counts of --project';
  return new Option('--role <role>', what).choices(ROLES);
}

function projectOption(): Option {
  return new Option('--project <id...>', 'of a reader, the projects that they may read');
}

interface RightsOptions {
  readonly role: Role;
  readonly project?: readonly string[];
}

function readMember({ role, project }: RightsOptions, text: string): { email: string; rights: Rights } {
  const rights = prefixProblems('--project', parseRights(role, project));
  if (!rights.ok) throw new UsageError(rights.problems);
  return { email: readEmail(text), rights: rights.value };
}

function readEmail(text: string): string {
  const email = toEmail(text);
  if (email === undefined) throw new UsageError(['EMAIL: is not an e-mail address']);
  return email;
}

const NOT_PROVED =
  'There is an account with this address, which the link of another organization made. It opens this one only after: caller-stats member invite EMAIL';

function addList(member: Command, io: Io): void {
  addStoreAction(member.command('list').description('lists the members'), io, {
    json: 'print them as JSON',
    run: async ({ store, organizationId }) => {
      const members = await store.directory.listMembers(organizationId);
      const rows = members.map((one) => [one.email, describeRights(one), formatTime(one.createdAt)]);
      return { json: members.map(memberToJson), text: formatTable(['E-MAIL', 'ROLE', 'SINCE'], rows) };
    },
  });
}

function addChange(member: Command, io: Io): void {
  const command = member
    .command('change')
    .description('changes the role of a member')
    .argument('<email>', "the member's e-mail address")
    .addOption(roleOption().makeOptionMandatory())
    .addOption(projectOption())
    .addOption(revokeKeysOption());
  addStoreAction(command, io, {
    json: 'print the member as JSON',
    parse: (options: RightsOptions & RevokeKeys, text) => ({
      ...readMember(options, text),
      revokeKeys: options.revokeKeys ?? false,
    }),
    run: async ({ store, organizationId, input, by }) => {
      const { email, rights } = input;
      const keys = await dismissMember(store, { organizationId, ...input }, by);
      return {
        json: { email, ...rightsToJson(rights), keys: keys.map((key) => keyToJson(key, by.at)) },
        text: `${email} is ${describeRights(rights)} now`,
        notes: noteKeys(keys, email),
      };
    },
  });
}

function addRemove(member: Command, io: Io): void {
  const command = member
    .command('remove')
    .description('removes a member')
    .argument('<email>', "the member's e-mail address")
    .addOption(revokeKeysOption());
  addStoreAction(command, io, {
    json: 'print the removed member as JSON',
    parse: ({ revokeKeys = false }: RevokeKeys, text) => ({ email: readEmail(text), revokeKeys }),
    run: async ({ store, organizationId, input, by }) => {
      const { email } = input;
      const keys = await dismissMember(store, { organizationId, rights: null, ...input }, by);
      return {
        json: { email, keys: keys.map((key) => keyToJson(key, by.at)) },
        text: `removed ${email}`,
        notes: noteKeys(keys, email),
      };
    },
  });
}

interface RevokeKeys {
  readonly revokeKeys?: boolean;
}

function revokeKeysOption(): Option {
  return new Option(
    '--revoke-keys',
    'also revoke the admin keys that the member created, if they may not manage keys any more',
  );
}

function noteKeys(keys: readonly ApiKey[], email: string): string[] {
  if (keys.length === 0) return [];
  const what = keys.every(({ revokedAt }) => revokedAt !== null)
    ? `These admin keys, which ${email} created, are revoked:`
    : `These admin keys, which ${email} created, still work. Revoke them with: caller-stats key revoke ID`;
  return [what, ...keys.map(({ id, name }) => `  ${id}  ${name}`)];
}

function addInvite(member: Command, io: Io): void {
  const command = member
    .command('invite')
    .description('prints a link with which one person can join and create an account, once, within 7 days')
    .argument('<email>', 'e-mail address, in any case')
    .addOption(roleOption().default('viewer'))
    .addOption(projectOption())
    .option('--without-link', 'add the member at once, for single sign-on or for who has an account already')
    .addOption(settingOption('publicUrl'))
    .addOption(settingOption('basePath'));
  addStoreAction(command, io, {
    json: 'print the link and its expiry as JSON',
    settings: ['publicUrl', 'basePath', 'port', 'mail'],
    parse: ({ withoutLink = false, ...options }: RightsOptions & { withoutLink?: boolean }, text) => ({
      ...readMember(options, text),
      withoutLink,
    }),
    run: async ({ store, settings, organizationId, input: { email, rights, withoutLink }, by }) => {
      const wanted = { organizationId, email, ...rights };
      if (withoutLink) return addMember(store, wanted, by);
      const { invitation, token } = await inviteMember({ store, randomInt: io.randomInt }, wanted, by);
      const link = `${pagesUrl(settings)}/join#${token}`;
      const expiresAt = formatTime(invitation.expiresAt);
      const note = `For ${email}, as ${describeRights(rights)}, until ${expiresAt}. It is not shown again.`;
      const json = { email, ...rightsToJson(rights), link, expiresAt };
      const sent = await mail(settings, { to: email, link, id: invitation.id, invitation });
      return { json, text: link, notes: [note, ...noteGuessedUrl(settings), ...sent] };
    },
  });
}

async function addMember({ directory }: Store, wanted: Omit<Member, 'createdAt'>, by: Actor) {
  const { organizationId, email } = wanted;
  await directory.addMember({ ...wanted, createdAt: by.at }, by);
  const hasAccount = (await directory.findUsers([email])).has(email);
  const opens = (await directory.findUsers([email], organizationId)).has(email);
  return {
    json: { email, ...rightsToJson(wanted) },
    text: `added ${email} as ${describeRights(wanted)}`,
    notes: hasAccount && !opens ? [NOT_PROVED] : [],
  };
}

interface ResetOptions {
  readonly secondFactor?: boolean;
  readonly sessions?: boolean;
  readonly singleSignOn?: boolean;
}

function addReset(member: Command, io: Io): void {
  const command = member
    .command('reset')
    .description('prints a link that sets a new password and ends all sessions, once, within an hour')
    .argument('<email>', "the user's e-mail address")
    .option(
      '--second-factor',
      'first remove the password, two-factor authentication and passkeys, and end all sessions',
    )
    .addOption(
      new Option('--sessions', 'only end all sessions, and the trust in devices; prints no link').conflicts([
        'secondFactor',
        'singleSignOn',
      ]),
    )
    .addOption(
      new Option(
        '--single-sign-on',
        'only let the member sign in as another user of the provider, and end all sessions; prints no link',
      ).conflicts('secondFactor'),
    )
    .addOption(settingOption('publicUrl'))
    .addOption(settingOption('basePath'))
    .addOption(settingOption('secretFile'));
  addStoreAction(command, io, {
    json: 'print the link, or what was ended, as JSON',
    settings: ['publicUrl', 'basePath', 'port', 'mail', ...SECRET_SETTINGS],
    parse: (options: ResetOptions, text) => ({ email: readEmail(text), ...options }),
    run: async ({ store, settings, organizationId, input, by }) => {
      const { email, secondFactor = false, sessions, singleSignOn } = input;
      const { recovery, users } = await openAccounts(store, settings, io);
      if (singleSignOn) {
        await unlinkMember({ store, users }, { organizationId, email }, by);
        return { json: { email }, text: `unlinked ${email} from single sign-on` };
      }
      if (sessions) {
        const member = { organizationId, email, isOperator: true };
        const ended = await endMemberSessions({ store, users }, member, by);
        return { json: { email, ended }, text: `ended ${formatQuantity(ended, 'session')} of ${email}` };
      }
      const token = await recoverAccount({ store, recovery }, { email, removeAll: secondFactor }, by);
      const link = `${pagesUrl(settings)}/reset#${token}`;
      const sent = await mail(settings, { to: email, link, id: generateId(io.randomInt) });
      const notes = [`For ${email}, within an hour. It is not shown again.`, ...noteGuessedUrl(settings)];
      return { json: { email, link }, text: link, notes: [...notes, ...sent] };
    },
  });
}

async function openAccounts(
  store: Store,
  settings: Values<'database' | 'publicUrl' | 'basePath' | (typeof SECRET_SETTINGS)[number]>,
  io: Io,
) {
  // Loaded only here: the sign-in library takes longer to load than most commands run.
  const [{ pino }, { Credentials }, { Users }, { AuthProvider }] = await Promise.all([
    import('pino'),
    import('../../auth/credentials.js'),
    import('../../auth/users.js'),
    import('../../auth/auth-provider.js'),
  ]);
  const provider = new AuthProvider({
    store,
    clock: io.clock,
    publicUrl: settings.publicUrl ?? undefined,
    basePath: settings.basePath,
    secrets: () => findSecrets(settings, store),
    singleSignOn: undefined,
    randomInt: io.randomInt,
    log: pino({ level: 'error' }, { write: (line) => void io.stderr.write(line) }),
  });
  return { recovery: new Credentials(provider), users: new Users(provider, store.directory) };
}

type PagesSettings = Values<'publicUrl' | 'basePath' | 'port'>;

/** Tells the user if the link's address is a guess, because the server may run with other settings. */
function noteGuessedUrl(settings: PagesSettings): string[] {
  if (settings.publicUrl !== null) return [];
  return [
    `The link assumes that the server is at ${pagesUrl(settings)}; change that with --public-url or PORT.`,
  ];
}

/** Sends a link, if there is a mail server. A guessed address is not sent to others. Returns what became of it. */
async function mail(
  settings: PagesSettings & Values<'mail'>,
  mailed: Omit<MailedLink, 'pagesUrl'>,
): Promise<string[]> {
  if (settings.mail === null) return [];
  if (settings.publicUrl === null) return ['It was not sent by e-mail: that needs CALLER_STATS_PUBLIC_URL.'];
  const mailer = new Mailer(settings.mail);
  const { problem } = await mailLink((one) => mailer.send(one), { ...mailed, pagesUrl: pagesUrl(settings) });
  return [problem === null ? `Sent to ${mailed.to}.` : `It could not be sent to ${mailed.to}: ${problem}`];
}

/** The address of the dashboard, as far as the command line knows it. */
function pagesUrl({ publicUrl, basePath, port }: PagesSettings): string {
  return `${publicUrl ?? `http://127.0.0.1:${port}`}${basePath}`;
}
