import { AUDIT_ACTION_NAMES, type AuditAction } from '../../../../src/domain/people/audit.js';

/** The name of an audit action on screen. Unknown actions of newer servers keep their identifier. */
export function actionName(action: string): string {
  return Object.hasOwn(AUDIT_ACTION_NAMES, action) ? AUDIT_ACTION_NAMES[action as AuditAction] : action;
}
