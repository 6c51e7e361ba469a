/** The audit log: who changed what, when, and from where. Entries are only ever added. */

export const AUDIT_ACTIONS = [
  'organization.create',
  'project.create',
  'project.change',
  'project.delete',
  'key.create',
  'key.rotate',
  'key.disable',
  'key.enable',
  'key.revoke',
  'member.add',
  'member.change',
  'member.remove',
  'invitation.create',
  'invitation.revoke',
  'user.password',
  'user.second_factor',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Who makes a change. */
export interface Actor {
  /** In words: `command line`, `first start`, `leak report`, or a user's e-mail address. */
  readonly name: string;
  /** The address it came from; null where it came over no network. */
  readonly address: string | null;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

export interface AuditEntry {
  /** Rises with every entry. */
  readonly number: number;
  readonly at: number;
  readonly actor: string;
  readonly address: string | null;
  readonly action: AuditAction;
  /** The id of what was changed: of an organization, project or key; the e-mail address of a member, user or invited person. */
  readonly targetId: string;
  /** What was new about it, in words; never a secret. */
  readonly detail: string;
}

/** Which entries to read. */
export interface AuditFilter {
  /** From this time on, inclusive, in milliseconds since 1970. */
  readonly from?: number;
  /** Before this time. */
  readonly to?: number;
  /** Those of this actor, by its name, exactly. */
  readonly actor?: string;
  readonly action?: AuditAction;
  /** Those about what has this id, exactly. */
  readonly targetId?: string;
  /** Those before this one, for the page after the one it ended. */
  readonly before?: number;
  readonly limit: number;
}
