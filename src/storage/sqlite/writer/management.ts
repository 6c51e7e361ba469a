/** Changes of organizations, projects, keys and members, each with its entry in the audit log. On the writer thread. */

import { CallerStatsError } from '../../../domain/errors.js';
import type { ApiKey } from '../../../domain/keys/api-key.js';
import type { Actor, AuditAction } from '../../../domain/people/audit.js';
import { lastOwnerError, type Member, type Role } from '../../../domain/people/member.js';
import {
  applyChange,
  type NewProject,
  type Organization,
  type Project,
  type ProjectChange,
} from '../../../domain/projects/project.js';
import type { KeyChange } from '../../ports/store.js';
import { KEY_COLUMN_NAMES, keyColumns, keyValues, projectColumns, toKey, toProject } from '../../sql/rows.js';
import { type AuditEvent, addAuditEntry, type Prepare } from './audit-log.js';
import type { ManagementOperation } from './operations.js';

/** How a key is changed in place. Each leaves alone a key that is in that state already. */
const KEY_CHANGES: Readonly<Record<KeyChange, { readonly set: string; readonly action: AuditAction }>> = {
  revoke: { set: 'revoked_at = ?1 WHERE revoked_at IS NULL', action: 'key.revoke' },
  disable: { set: 'disabled_at = ?1 WHERE disabled_at IS NULL', action: 'key.disable' },
  enable: {
    set: 'disabled_at = NULL WHERE ?1 IS NOT NULL AND disabled_at IS NOT NULL',
    action: 'key.enable',
  },
};

export class Management {
  readonly #prepare: Prepare;

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  /** Makes one change, within the transaction that is open. `CallerStatsError`s mean that nothing was changed. */
  run(operation: ManagementOperation): unknown {
    const { by } = operation;
    switch (operation.kind) {
      case 'createOrganization':
        return this.#createOrganization(operation.organization, by);
      case 'createProject':
        return this.#createProject(operation.project, by);
      case 'changeProject':
        return this.#changeProject(operation, by);
      case 'deleteProject':
        return this.#deleteProject(operation.organizationId, operation.projectId, by);
      case 'createKey':
        this.#insertKey(operation.key);
        return this.#log(keyEvent('key.create', operation.key), by);
      case 'changeKey':
        return this.#changeKey(operation.organizationId, operation.keyId, operation.change, by);
      case 'rotateKey':
        return this.#rotateKey(operation, by);
      case 'revokeLeakedKey':
        return this.#revokeLeakedKey(operation.keyHash, by);
      case 'addMember':
        return this.#addMember(operation.member, by);
      case 'changeMember':
        return this.#changeMember(operation, by);
      case 'removeMember':
        return this.#removeMember(operation, by);
    }
  }

  #createOrganization({ id, name, createdAt }: Organization, by: Actor): void {
    if (this.#has('SELECT 1 FROM organization WHERE id = ?', id)) {
      throw new CallerStatsError('already_exists', `There is an organization ${id} already.`);
    }
    this.#prepare('INSERT INTO organization (id, name, created_at) VALUES (?, ?, ?)').run(
      id,
      name,
      createdAt,
    );
    this.#log({ organizationId: id, action: 'organization.create', targetId: id, detail: name }, by);
  }

  #createProject(project: NewProject, by: Actor): void {
    const { id, organizationId, name, createdAt, timeZone, retentionDays } = project;
    this.#requireOrganization(organizationId);
    if (this.#has('SELECT 1 FROM project WHERE id = ?', id)) {
      throw new CallerStatsError('already_exists', `There is a project ${id} already.`);
    }
    this.#prepare(
      `INSERT INTO project (id, organization_id, name, created_at, time_zone, retention_days) VALUES (?, ?, ?, ?, ?, ?)`,
    ).run(id, organizationId, name, createdAt, timeZone, retentionDays);
    this.#log({ organizationId, action: 'project.create', targetId: id, detail: name }, by);
  }

  #changeProject(
    {
      organizationId,
      projectId,
      change,
    }: { organizationId: string; projectId: string; change: ProjectChange },
    by: Actor,
  ): Project {
    const { project, detail } = applyChange(this.#projectOf(organizationId, projectId), change);
    if (detail === '') return project;
    this.#prepare('UPDATE project SET name = ?, time_zone = ?, retention_days = ? WHERE id = ?').run(
      project.name,
      project.timeZone,
      project.retentionDays,
      projectId,
    );
    this.#log({ organizationId, action: 'project.change', targetId: projectId, detail }, by);
    return project;
  }

  /** Its keys first, which refer to it. What it had recorded is left to the `Cleaner`. */
  #deleteProject(organizationId: string, projectId: string, by: Actor): void {
    const { name } = this.#projectOf(organizationId, projectId);
    this.#prepare('DELETE FROM api_key WHERE project_id = ?').run(projectId);
    this.#prepare('INSERT INTO deleted_project (number) SELECT number FROM project WHERE id = ?').run(
      projectId,
    );
    this.#prepare('DELETE FROM project WHERE id = ?').run(projectId);
    this.#log({ organizationId, action: 'project.delete', targetId: projectId, detail: name }, by);
  }

  #insertKey(key: ApiKey): void {
    const { id, organizationId, projectId, hash } = key;
    this.#requireOrganization(organizationId);
    const ofOrganization = 'SELECT 1 FROM project WHERE id = ? AND organization_id = ?';
    if (projectId !== null && !this.#has(ofOrganization, projectId, organizationId)) {
      throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    }
    if (this.#has('SELECT 1 FROM api_key WHERE id = ? OR hash = ?', id, hash)) {
      throw new CallerStatsError('already_exists', `There is a key ${id} already.`);
    }
    const values = keyValues(key);
    this.#prepare(
      `INSERT INTO api_key (${KEY_COLUMN_NAMES}) VALUES (${values.map(() => '?').join(', ')})`,
    ).run(...values);
  }

  #changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): ApiKey {
    const { set, action } = KEY_CHANGES[change];
    const { changes } = this.#prepare(`UPDATE api_key SET ${set} AND id = ?2 AND organization_id = ?3`).run(
      by.at,
      keyId,
      organizationId,
    );
    const key = this.#keyOf(organizationId, keyId);
    if (changes > 0) this.#log(keyEvent(action, key), by);
    return key;
  }

  #rotateKey(
    { organizationId, keyId, successor, expiresAt }: Extract<ManagementOperation, { kind: 'rotateKey' }>,
    by: Actor,
  ): void {
    const key = this.#keyOf(organizationId, keyId);
    if (key.revokedAt !== null || key.successorId !== null) {
      throw new CallerStatsError('invalid', `The key ${keyId} was revoked or rotated already.`);
    }
    this.#insertKey(successor);
    this.#prepare('UPDATE api_key SET expires_at = ?, successor_id = ? WHERE id = ?').run(
      expiresAt,
      successor.id,
      keyId,
    );
    this.#log({ ...keyEvent('key.rotate', key), detail: `${key.name}, succeeded by ${successor.id}` }, by);
  }

  #revokeLeakedKey(keyHash: string, by: Actor): boolean {
    const row = this.#prepare('SELECT id, organization_id AS organizationId FROM api_key WHERE hash = ?').get(
      keyHash,
    );
    if (row === undefined) return false;
    this.#changeKey(row.organizationId, row.id, 'revoke', by);
    return true;
  }

  #addMember({ organizationId, email, role, createdAt }: Member, by: Actor): void {
    this.#requireOrganization(organizationId);
    if (this.#has('SELECT 1 FROM member WHERE organization_id = ? AND email = ?', organizationId, email)) {
      throw new CallerStatsError('already_exists', `${email} is a member already.`);
    }
    this.#prepare('INSERT INTO member (organization_id, email, role, created_at) VALUES (?, ?, ?, ?)').run(
      organizationId,
      email,
      role,
      createdAt,
    );
    this.#log({ organizationId, action: 'member.add', targetId: email, detail: role }, by);
  }

  #changeMember(
    { organizationId, email, role }: { organizationId: string; email: string; role: Role },
    by: Actor,
  ): void {
    if (role !== 'owner') this.#requireAnotherOwner(organizationId, email);
    this.#requireMember(
      this.#prepare('UPDATE member SET role = ? WHERE organization_id = ? AND email = ?').run(
        role,
        organizationId,
        email,
      ),
      email,
    );
    this.#log({ organizationId, action: 'member.change', targetId: email, detail: role }, by);
  }

  #removeMember({ organizationId, email }: { organizationId: string; email: string }, by: Actor): void {
    this.#requireAnotherOwner(organizationId, email);
    this.#requireMember(
      this.#prepare('DELETE FROM member WHERE organization_id = ? AND email = ?').run(organizationId, email),
      email,
    );
    this.#log({ organizationId, action: 'member.remove', targetId: email, detail: '' }, by);
  }

  /** Refuses to take away the last owner. */
  #requireAnotherOwner(organizationId: string, email: string): void {
    const owners = this.#prepare(
      `SELECT email FROM member WHERE organization_id = ? AND role = 'owner' LIMIT 2`,
    ).all(organizationId);
    if (owners.length === 1 && owners[0].email === email) throw lastOwnerError(email);
  }

  #requireMember({ changes }: { readonly changes: number | bigint }, email: string): void {
    if (changes === 0) throw new CallerStatsError('not_found', `There is no member ${email}.`);
  }

  #projectOf(organizationId: string, projectId: string): Project {
    const row = this.#prepare(
      `SELECT ${projectColumns('project')} FROM project WHERE id = ? AND organization_id = ?`,
    ).get(projectId, organizationId);
    if (row === undefined) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    return toProject(row);
  }

  #keyOf(organizationId: string, keyId: string): ApiKey {
    const row = this.#prepare(
      `SELECT ${keyColumns('api_key')} FROM api_key WHERE id = ? AND organization_id = ?`,
    ).get(keyId, organizationId);
    if (row === undefined) throw new CallerStatsError('not_found', `There is no key ${keyId}.`);
    return toKey(row);
  }

  #requireOrganization(id: string): void {
    if (!this.#has('SELECT 1 FROM organization WHERE id = ?', id)) {
      throw new CallerStatsError('not_found', `There is no organization ${id}.`);
    }
  }

  #log(event: AuditEvent, by: Actor): void {
    addAuditEntry(this.#prepare, event, by);
  }

  #has(sql: string, ...parameters: string[]): boolean {
    return this.#prepare(sql).get(...parameters) !== undefined;
  }
}

function keyEvent(action: AuditAction, { organizationId, id, name }: ApiKey): AuditEvent {
  return { organizationId, action, targetId: id, detail: name };
}
