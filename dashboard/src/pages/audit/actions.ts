/** What can happen, in words. */
import type { AuditAction } from '../../../../src/domain/people/audit.js';

export const ACTION_NAMES: Readonly<Record<AuditAction, string>> = {
  'organization.create': 'Organization made',
  'project.create': 'Project made',
  'project.change': 'Project changed',
  'project.delete': 'Project deleted',
  'key.create': 'Key made',
  'key.rotate': 'Key rotated',
  'key.disable': 'Key disabled',
  'key.enable': 'Key enabled',
  'key.revoke': 'Key revoked',
  'member.add': 'Member added',
  'member.change': 'Role changed',
  'member.remove': 'Member removed',
  'invitation.create': 'Invitation made',
  'invitation.revoke': 'Invitation withdrawn',
  'user.password': 'Password changed',
  'user.second_factor': 'Second factor changed',
};

/** An action of a newer server has no words yet. */
export function actionName(action: string): string {
  return Object.hasOwn(ACTION_NAMES, action) ? ACTION_NAMES[action as AuditAction] : action;
}
