import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Actor, AuditAction } from '../../../domain/people/audit.js';

/** Gives the same statement for the same text. */
export type Prepare = (sql: string) => StatementSyncInstance;

/** What happened, for the audit log. */
export interface AuditEvent {
  readonly organizationId: string;
  readonly action: AuditAction;
  readonly targetId: string;
  readonly detail: string;
}

/** Writes an entry, within the transaction that is open. */
export function addAuditEntry(
  prepare: Prepare,
  { organizationId, action, targetId, detail }: AuditEvent,
  { name, address, at }: Actor,
): void {
  prepare(
    `INSERT INTO audit (organization_id, at, actor, address, action, target_id, detail) VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(organizationId, at, name, address, action, targetId, detail);
}
