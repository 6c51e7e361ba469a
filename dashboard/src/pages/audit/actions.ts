/** The names of the audit actions on screen. */
import type { AuditAction } from '../../../../src/domain/people/audit.js';

export const ACTION_NAMES: Readonly<Record<AuditAction, string>> = {
  'organization.create': 'Organization created',
  'project.create': 'Project created',
  'project.change': 'Project changed',
  'project.delete': 'Project deleted',
  'key.create': 'Key created',
  'key.rotate': 'Key rotated',
  'key.disable': 'Key disabled',
  'key.enable': 'Key enabled',
  'key.revoke': 'Key revoked',
  'member.add': 'Member added',
  'member.change': 'Role changed',
  'member.remove': 'Member removed',
  'invitation.create': 'Invitation created',
  'invitation.revoke': 'Invitation withdrawn',
  'user.password': 'Password changed',
  'user.second_factor': 'Two-factor authentication changed',
};

/** Shows unknown actions of newer servers by their identifier. */
export function actionName(action: string): string {
  return Object.hasOwn(ACTION_NAMES, action) ? ACTION_NAMES[action as AuditAction] : action;
}
