/** `caller-stats member invite` and `reset`: how somebody gets in, or in again, where no owner is signed in to help. */

import type { Command } from 'commander';
import type { DestinationStream } from 'pino';
import { inviteMember } from '../../../app/members.js';
import { formatTime } from '../../../domain/format.js';
import type { Io } from '../../io.js';
import { settingOption } from '../../settings/settings.js';
import { commandLineActor, organizationOption, runOnStore } from '../../store-options.js';
import { printJson, printLine } from '../../terminal/output.js';
import { type MemberOptions, readMember, roleOption } from './options.js';

export function addInvite(member: Command, io: Io): void {
  member
    .command('invite')
    .description('prints a link that lets somebody join and sign in, once')
    .argument('<email>', 'e-mail address, whose case does not matter')
    .addOption(roleOption().default('viewer'))
    .addOption(organizationOption())
    .addOption(settingOption('publicUrl'))
    .addOption(settingOption('basePath'))
    .addOption(settingOption('database'))
    .option('--json', 'print the link and when it expires as JSON')
    .action(async (text: string, options: MemberOptions) => {
      const [settings, email] = readMember(text, options, io);
      const by = commandLineActor(io.clock);
      const wanted = { organizationId: options.organization, email, role: options.role };
      const { invitation, token } = await runOnStore(settings, (store) =>
        inviteMember({ store, randomInt: io.randomInt }, wanted, by),
      );
      const link = `${pagesUrl(settings)}/join#${token}`;
      const expiresAt = formatTime(invitation.expiresAt);
      if (options.json) return printJson(io.stdout, { email, role: options.role, link, expiresAt });
      printLine(io.stdout, link);
      printLine(io.stderr, `For ${email}, as ${options.role}, until ${expiresAt}. It is not shown again.`);
      sayAssumed(settings, io);
    });
}

export function addReset(member: Command, io: Io): void {
  member
    .command('reset')
    .description('prints a link that sets a new password and ends all sessions, once, within a day')
    .argument('<email>', "the user's e-mail address")
    .option('--second-factor', 'turn the second factor off, too')
    .addOption(settingOption('publicUrl'))
    .addOption(settingOption('basePath'))
    .addOption(settingOption('database'))
    .option('--json', 'print the link as JSON')
    .action(async (text: string, options: MemberOptions & { readonly secondFactor?: boolean }) => {
      const [settings, email] = readMember(text, options, io);
      const by = commandLineActor(io.clock);
      // Loaded here, because every other command would wait for them in vain.
      const [{ pino }, { Credentials }, { AuthProvider }] = await Promise.all([
        import('pino'),
        import('../../../auth/credentials.js'),
        import('../../../auth/auth-provider.js'),
      ]);
      const token = await runOnStore(settings, async (store) => {
        const credentials = new Credentials(
          new AuthProvider({
            store,
            clock: io.clock,
            publicUrl: settings.publicUrl ?? undefined,
            basePath: settings.basePath,
            secret: settings.secret ?? undefined,
            singleSignOn: undefined,
            randomInt: io.randomInt,
            log: pino({ level: 'error' }, io.stderr as unknown as DestinationStream),
          }),
        );
        const made = await credentials.startPasswordReset(email);
        await store.logUserChange(email, { action: 'user.password', detail: 'reset link made' }, by);
        if (options.secondFactor) {
          await credentials.dropSecondFactor(email);
          await store.logUserChange(email, { action: 'user.second_factor', detail: 'off' }, by);
        }
        return made;
      });
      const link = `${pagesUrl(settings)}/reset#${token}`;
      if (options.json) return printJson(io.stdout, { email, link });
      printLine(io.stdout, link);
      printLine(io.stderr, `For ${email}, within a day. It is not shown again.`);
      sayAssumed(settings, io);
    });
}

interface PagesSettings {
  readonly publicUrl: string | null;
  readonly basePath: string;
  readonly port: number;
}

/** The server may have been started with other settings: a link to nowhere would not say why. */
function sayAssumed(settings: PagesSettings, { stderr }: Io): void {
  if (settings.publicUrl !== null) return;
  printLine(
    stderr,
    `${pagesUrl(settings)} is assumed to be the server: --public-url, or its PORT, says another.`,
  );
}

/** Where browsers find the dashboard, as far as the command line can know. */
function pagesUrl({ publicUrl, basePath, port }: PagesSettings): string {
  return `${publicUrl ?? `http://127.0.0.1:${port}`}${basePath}`;
}
