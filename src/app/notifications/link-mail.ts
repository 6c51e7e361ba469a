/** Sends links that let people in. Only the mail has the link: neither the log nor the audit log does. */
import { formatTime } from '../../domain/format.js';
import type { Invitation } from '../../domain/people/invitation.js';
import type { Mail } from './channels/mailer.js';
import { reasonOf } from './sending.js';

export interface MailedLink {
  readonly to: string;
  /** The address of the dashboard. */
  readonly pagesUrl: string;
  readonly link: string;
  /** Tells the mails of this server apart. */
  readonly id: string;
  /** Of a link that sets a new password, none. */
  readonly invitation?: Pick<Invitation, 'createdBy' | 'expiresAt'>;
}

/** What became of a mail: why it was not sent, or null. */
export interface MailResult {
  readonly problem: string | null;
}

/** Has no text that members choose, so that nobody writes to strangers in the name of this server. */
export async function mailLink(
  send: (mail: Mail) => Promise<void>,
  { to, pagesUrl, link, id, invitation }: MailedLink,
): Promise<MailResult> {
  const [subject, first] =
    invitation === undefined
      ? [
          'New password',
          `With this link you set a new password for ${pagesUrl}. It works once, within an hour:`,
        ]
      : [
          'Invitation',
          `${invitation.createdBy} invites you to ${pagesUrl}. This link works once, until ${formatTime(invitation.expiresAt)}:`,
        ];
  const text = `${first}\n\n${link}\n\nIf you do not expect it, ignore this mail.\n`;
  try {
    await send({ id, to, subject: `${subject}: caller-stats`, text });
    return { problem: null };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}
