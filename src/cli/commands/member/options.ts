/** What the commands about members have in common. */
import { Option } from 'commander';
import { ROLES, type Role, toEmail } from '../../../domain/people/member.js';
import { allOrProblems, type Io, UsageError } from '../../io.js';
import { readSettings, STORE_SETTINGS } from '../../settings/settings.js';

export interface MemberOptions {
  readonly organization: string;
  readonly role: Role;
  readonly json?: boolean;
}

export function roleOption(): Option {
  return new Option('--role <role>', 'owner: everything; editor: keys and projects; viewer: reads').choices(
    ROLES,
  );
}

/** The settings and the address that a command is given. `UsageError` with every problem. */
export function readMember(text: string, options: MemberOptions, io: Io) {
  return allOrProblems(
    () =>
      readSettings([...STORE_SETTINGS, 'publicUrl', 'basePath', 'port', 'secret'], { ...options }, io.env),
    () => {
      const email = toEmail(text);
      if (email === undefined) throw new UsageError(['EMAIL: is not an e-mail address']);
      return email;
    },
  );
}
