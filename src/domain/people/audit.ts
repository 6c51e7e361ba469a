/** The audit log: who changed what, when, and from where. Entries never change. */

/** Every action, and its name in the dashboard. */
export const AUDIT_ACTION_NAMES = {
  'organization.create': 'Organization created',
  'organization.change': 'Organization changed',
  'project.create': 'Project created',
  'project.change': 'Project changed',
  'project.delete': 'Project deleted',
  'correction.withdraw': 'Queries withdrawn',
  'correction.rename': 'Queries renamed',
  'correction.undo': 'Correction undone',
  'notification.create': 'Notification created',
  'notification.change': 'Notification changed',
  'notification.delete': 'Notification deleted',
  'notification.test': 'Test message sent',
  'notification.deliver': 'Message delivered',
  'notification.fail': 'Message given up',
  'key.create': 'Key created',
  'key.rotate': 'Key rotated',
  'key.disable': 'Key disabled',
  'key.enable': 'Key enabled',
  'key.revoke': 'Key revoked',
  'share_link.create': 'Share link created',
  'share_link.revoke': 'Share link revoked',
  'member.add': 'Member added',
  'member.change': 'Role changed',
  'member.remove': 'Member removed',
  'invitation.create': 'Invitation created',
  'invitation.revoke': 'Invitation withdrawn',
  'user.name': 'Account renamed',
  'user.password': 'Password changed',
  'user.second_factor': 'Two-factor authentication changed',
  'user.passkey': 'Passkeys changed',
  'user.sign_in': 'Signed in',
  'user.sign_in_failure': 'Sign-in failed',
  'user.lockout': 'Sign-in blocked',
  'user.single_sign_on': 'Single sign-on unlinked',
  'user.session_end': 'Session ended',
  'user.trust': 'Trusted devices changed',
  'user.application': 'Connected applications changed',
} as const;

export type AuditAction = keyof typeof AUDIT_ACTION_NAMES;

export const AUDIT_ACTIONS = Object.keys(AUDIT_ACTION_NAMES) as readonly AuditAction[];

/** The author of a change. */
export interface Actor {
  /** `command line`, `first start`, `leak report`, `notifications`, or a user's e-mail address. */
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
  /**
   * The id of the changed organization, project, key or share link, of the project of a notification or correction, or the e-mail address of
   * the member, user or invited person.
   */
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
