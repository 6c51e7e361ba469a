/** The audit log: who changed what, when, and from where. Entries never change. */

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

/** The author of a change. */
export interface Actor {
  /** `command line`, `first start`, `leak report`, or a user's e-mail address. */
  readonly name: string;
  /** The address of the request; null if there was no network involved. */
  readonly address: string | null;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

export interface AuditEntry extends Pick<Actor, 'address' | 'at'> {
  /** Increases with every entry. */
  readonly number: number;
  readonly actor: string;
  readonly action: AuditAction;
  /** The id of the changed organization, project or key, or the e-mail address of the member, user or invited person. */
  readonly targetId: string;
  /** A description of the change; never a secret. */
  readonly detail: string;
}

export interface AuditFilter extends Partial<Pick<AuditEntry, 'actor' | 'action' | 'targetId'>> {
  /** Inclusive, in milliseconds since 1970. */
  readonly from?: number;
  /** Exclusive. */
  readonly to?: number;
  /** Only entries before this number, for the next page. */
  readonly before?: number;
  readonly limit: number;
}
