/** Changes of invitations and of what users sign in with. On the writer thread, within the transaction that is open. */

import { CallerStatsError } from '../../../domain/errors.js';
import type { Actor } from '../../../domain/people/audit.js';
import { type Invitation, invalidInvitationError } from '../../../domain/people/invitation.js';
import type { Member } from '../../../domain/people/member.js';
import type { UserStatementResult } from '../../ports/people.js';
import {
  INVITATION_COLUMN_NAMES,
  invitationColumns,
  invitationValues,
  MEMBER_COLUMNS,
  toInvitation,
  toMember,
} from '../../sql/rows.js';
import type { Connection } from '../connection.js';
import { isConflict } from '../errors.js';
import { addAuditEntry, type Prepare } from './audit-log.js';
import type { PeopleOperation } from './operations.js';

/** The owner who can sign in for the longest time. Where there is none, set-up is open. */
export const FIND_FIRST_OWNER = `SELECT member.email FROM member
  JOIN user_account ON user_account.email = member.email
  WHERE member.role = 'owner' ORDER BY user_account.created_at, user_account.id LIMIT 1`;

export class PeopleChanges {
  readonly #db: Connection;
  readonly #prepare: Prepare;

  constructor(db: Connection, prepare: Prepare) {
    this.#db = db;
    this.#prepare = prepare;
  }

  /** Makes one change. `CallerStatsError`s mean that nothing was changed. */
  run(operation: PeopleOperation): unknown {
    switch (operation.kind) {
      case 'createInvitation':
        return this.#createInvitation(operation.invitation, operation.by);
      case 'revokeInvitation':
        return this.#revokeInvitation(operation.organizationId, operation.invitationId, operation.by);
      case 'acceptInvitation':
        return this.#acceptInvitation(operation.tokenHash, operation.email, operation.by);
      case 'acceptInvitationsOf':
        return this.#acceptInvitationsOf(operation.email, operation.by);
      case 'logUserChange':
        return this.#logUserChange(operation);
      case 'keepSecret':
        return this.#keepSecret(operation.name, operation.proposed);
      case 'userStatement':
        return this.#runUserStatement(operation.sql, operation.parameters);
    }
  }

  #createInvitation(invitation: Invitation, by: Actor): void {
    const { organizationId, email, role } = invitation;
    if (this.#prepare('SELECT 1 FROM organization WHERE id = ?').get(organizationId) === undefined) {
      throw new CallerStatsError('not_found', `There is no organization ${organizationId}.`);
    }
    const signedUp = `SELECT 1 FROM member JOIN user_account ON user_account.email = member.email
      WHERE member.organization_id = ? AND member.email = ?`;
    if (email !== null && this.#prepare(signedUp).get(organizationId, email) !== undefined) {
      throw new CallerStatsError('already_exists', `${email} is a member already.`);
    }
    this.#prepare('DELETE FROM invitation WHERE organization_id = ? AND (email = ? OR expires_at <= ?)').run(
      organizationId,
      email,
      by.at,
    );
    const values = invitationValues(invitation);
    this.#prepare(
      `INSERT INTO invitation (${INVITATION_COLUMN_NAMES}) VALUES (${values.map(() => '?').join(', ')})`,
    ).run(...values);
    if (email === null) return;
    addAuditEntry(
      this.#prepare,
      { organizationId, action: 'invitation.create', targetId: email, detail: role },
      by,
    );
  }

  #revokeInvitation(organizationId: string, invitationId: string, by: Actor): void {
    const row = this.#prepare(
      'DELETE FROM invitation WHERE organization_id = ? AND id = ? AND email IS NOT NULL RETURNING email',
    ).get(organizationId, invitationId);
    if (row === undefined)
      throw new CallerStatsError('not_found', 'There is no such invitation; it was used or withdrawn.');
    addAuditEntry(
      this.#prepare,
      { organizationId, action: 'invitation.revoke', targetId: String(row.email), detail: '' },
      by,
    );
  }

  #acceptInvitation(tokenHash: string, email: string, by: Actor): Member {
    const row = this.#prepare(
      `SELECT ${invitationColumns('invitation')} FROM invitation WHERE token_hash = ? AND expires_at > ?`,
    ).get(tokenHash, by.at);
    if (row === undefined) throw invalidInvitationError();
    const invitation = toInvitation(row);
    const { organizationId, role } = invitation;
    if (invitation.email === null) {
      const first = this.#prepare(FIND_FIRST_OWNER).get();
      // Who was an owner before there was an account, as where members were copied, is the first one by now.
      if (first !== undefined && first.email !== email) throw invalidInvitationError();
      this.#prepare('DELETE FROM invitation WHERE email IS NULL').run();
    } else {
      if (invitation.email !== email) throw invalidInvitationError();
      this.#prepare('DELETE FROM invitation WHERE id = ?').run(invitation.id);
    }
    const present = this.#prepare(
      `SELECT ${MEMBER_COLUMNS} FROM member WHERE organization_id = ? AND email = ?`,
    ).get(organizationId, email);
    if (present !== undefined && invitation.email !== null) return toMember(present);
    this.#prepare(
      `INSERT INTO member (organization_id, email, role, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET role = excluded.role`,
    ).run(organizationId, email, role, by.at);
    const detail = `${role}, invited by ${invitation.createdBy}`;
    addAuditEntry(this.#prepare, { organizationId, action: 'member.add', targetId: email, detail }, by);
    return { organizationId, email, role, createdAt: present?.createdAt ?? by.at };
  }

  #acceptInvitationsOf(email: string, by: Actor): void {
    const found = this.#prepare(
      'SELECT token_hash AS hash FROM invitation WHERE email = ? AND expires_at > ?',
    ).all(email, by.at);
    for (const { hash } of found) this.#acceptInvitation(String(hash), email, by);
  }

  #logUserChange({
    email,
    action,
    detail,
    by,
  }: Extract<PeopleOperation, { readonly kind: 'logUserChange' }>): void {
    const memberships = this.#prepare('SELECT organization_id AS id FROM member WHERE email = ?').all(email);
    for (const { id } of memberships) {
      addAuditEntry(this.#prepare, { organizationId: String(id), action, targetId: email, detail }, by);
    }
  }

  #keepSecret(name: string, proposed: string): string {
    this.#prepare('INSERT INTO server_secret (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING').run(
      name,
      proposed,
    );
    return String(this.#prepare('SELECT value FROM server_secret WHERE name = ?').get(name).value);
  }

  /** A statement that fails has changed nothing, so the others of its group go on. */
  #runUserStatement(sql: string, parameters: readonly unknown[]): UserStatementResult {
    const statement = this.#db.prepare(sql);
    try {
      if (/\breturning\b/i.test(sql)) {
        const rows = statement.all(...parameters).map((row: object) => ({ ...row }));
        return { rows, changes: rows.length };
      }
      return { rows: [], changes: Number(statement.run(...parameters).changes) };
    } catch (error) {
      if (isConflict(error)) throw new CallerStatsError('already_exists', 'There is such a row already.');
      throw error;
    }
  }
}
