/** Changes of organizations, projects, keys and members, each with its entry in the audit log, in one transaction. */

import { EARLIEST_MS, LATEST_MS } from '../../domain/counting/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor, AuditAction, AuditFilter } from '../../domain/people/audit.js';
import { lastOwnerError, type Member, type Role } from '../../domain/people/member.js';
import {
  applyChange,
  type NewProject,
  type Organization,
  type Project,
  type ProjectChange,
} from '../../domain/projects/project.js';
import type { KeyChange } from '../ports/store.js';
import { keyValues, toKey, toProject } from '../sql/rows.js';
import type { Row, Session } from './database.js';
import { isConflict } from './errors.js';
import type { StatementName, Statements } from './statements.js';

/** What happened, for the audit log. */
interface Event {
  readonly organizationId: string;
  readonly action: AuditAction;
  readonly targetId: string;
  readonly detail: string;
}

const KEY_CHANGES = {
  revoke: { statement: 'revokeKey', action: 'key.revoke' },
  disable: { statement: 'disableKey', action: 'key.disable' },
  enable: { statement: 'enableKey', action: 'key.enable' },
} as const satisfies Readonly<Record<KeyChange, { statement: StatementName; action: AuditAction }>>;

/** What the statement `readAudit` is given. */
export function auditValues(organizationId: string, filter: AuditFilter): unknown[] {
  const { from, to, before, actor, action, targetId, limit } = filter;
  const bounds = [before ?? Number.MAX_SAFE_INTEGER, from ?? EARLIEST_MS, to ?? LATEST_MS];
  return [organizationId, ...bounds, actor, action, targetId, limit];
}

/** One transaction's changes. `CallerStatsError`s undo it. */
export class Management {
  readonly #session: Session;
  readonly #statements: Statements;

  constructor(session: Session, statements: Statements) {
    this.#session = session;
    this.#statements = statements;
  }

  async createOrganization({ id, name, createdAt }: Organization, by: Actor): Promise<void> {
    await this.#insert(
      'createOrganization',
      [id, name, createdAt],
      `There is an organization ${id} already.`,
    );
    await this.#log({ organizationId: id, action: 'organization.create', targetId: id, detail: name }, by);
  }

  async createProject(project: NewProject, by: Actor): Promise<void> {
    const { id, organizationId, name, createdAt, timeZone, retentionDays } = project;
    await this.#requireOrganization(organizationId);
    const values = [id, organizationId, name, createdAt, timeZone, retentionDays];
    const [made] = await this.#run('createProject', values);
    if (made === undefined) {
      const [tombstone] = await this.#run('findTombstone', [id]);
      throw new CallerStatsError(
        'already_exists',
        tombstone === undefined
          ? `There is a project ${id} already.`
          : `There was a project ${id}, and its queries are still being removed. Try again in a while, or choose another id.`,
      );
    }
    await this.#log({ organizationId, action: 'project.create', targetId: id, detail: name }, by);
  }

  async changeProject(
    organizationId: string,
    projectId: string,
    change: ProjectChange,
    by: Actor,
  ): Promise<Project> {
    const before = await this.#lockProject(organizationId, projectId);
    const { project, detail } = applyChange(before, change);
    if (detail === '') return project;
    await this.#run('changeProject', [projectId, project.name, project.timeZone, project.retentionDays]);
    await this.#log({ organizationId, action: 'project.change', targetId: projectId, detail }, by);
    return project;
  }

  /** Leaves its row as a tombstone, until `purgeDeleted` has removed all that it had recorded. */
  async deleteProject(organizationId: string, projectId: string, by: Actor): Promise<void> {
    const { name } = await this.#lockProject(organizationId, projectId);
    await this.#run('stopRecording', [projectId]);
    await this.#run('deleteProject', [projectId, by.at]);
    await this.#run('deleteKeysOfProject', [projectId]);
    await this.#log({ organizationId, action: 'project.delete', targetId: projectId, detail: name }, by);
  }

  async createKey(key: ApiKey, by: Actor): Promise<void> {
    await this.#insertKey(key);
    await this.#log(keyEvent('key.create', key), by);
  }

  async changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): Promise<ApiKey> {
    const { statement, action } = KEY_CHANGES[change];
    const values = change === 'enable' ? [organizationId, keyId] : [organizationId, keyId, by.at];
    const [changed] = await this.#run(statement, values);
    if (changed === undefined) return this.#keyOf(organizationId, keyId);
    const key = toKey(changed);
    await this.#log(keyEvent(action, key), by);
    return key;
  }

  async rotateKey(
    organizationId: string,
    keyId: string,
    successor: ApiKey,
    expiresAt: number,
    by: Actor,
  ): Promise<void> {
    // Project before keys, which is the order of a deletion's locks.
    if (successor.projectId !== null) await this.#requireProject(organizationId, successor.projectId);
    // Then the change that only one of two rotations at once can make.
    const [changed] = await this.#run('rotateKey', [organizationId, keyId, expiresAt, successor.id]);
    if (changed === undefined) {
      await this.#keyOf(organizationId, keyId);
      throw new CallerStatsError('invalid', `The key ${keyId} was revoked or rotated already.`);
    }
    const key = toKey(changed);
    await this.#insertKey(successor);
    await this.#log(
      { ...keyEvent('key.rotate', key), detail: `${key.name}, succeeded by ${successor.id}` },
      by,
    );
  }

  async revokeLeakedKey(keyHash: string, by: Actor): Promise<boolean> {
    const [row] = await this.#run('findKeyByHash', [keyHash]);
    if (row === undefined) return false;
    const { organizationId, id } = toKey(row);
    await this.changeKey(organizationId, id, 'revoke', by);
    return true;
  }

  async addMember({ organizationId, email, role, createdAt }: Member, by: Actor): Promise<void> {
    await this.#requireOrganization(organizationId);
    await this.#insert(
      'addMember',
      [organizationId, email, role, createdAt],
      `${email} is a member already.`,
    );
    await this.#log({ organizationId, action: 'member.add', targetId: email, detail: role }, by);
  }

  async changeMember(organizationId: string, email: string, role: Role, by: Actor): Promise<void> {
    if (role !== 'owner') await this.#requireAnotherOwner(organizationId, email);
    requireMember(await this.#run('changeMember', [organizationId, email, role]), email);
    await this.#log({ organizationId, action: 'member.change', targetId: email, detail: role }, by);
  }

  async removeMember(organizationId: string, email: string, by: Actor): Promise<void> {
    await this.#requireAnotherOwner(organizationId, email);
    requireMember(await this.#run('removeMember', [organizationId, email]), email);
    await this.#log({ organizationId, action: 'member.remove', targetId: email, detail: '' }, by);
  }

  /** Refuses to take away the last owner. */
  async #requireAnotherOwner(organizationId: string, email: string): Promise<void> {
    const owners = await this.#run('lockOwners', [organizationId]);
    if (owners.length === 1 && owners[0]?.['email'] === email) throw lastOwnerError(email);
  }

  async #insertKey(key: ApiKey): Promise<void> {
    await this.#requireOrganization(key.organizationId);
    if (key.projectId !== null) await this.#requireProject(key.organizationId, key.projectId);
    await this.#insert('createKey', keyValues(key), `There is a key ${key.id} already.`);
  }

  async #keyOf(organizationId: string, keyId: string): Promise<ApiKey> {
    const [row] = await this.#run('findKey', [organizationId, keyId]);
    if (row === undefined) throw new CallerStatsError('not_found', `There is no key ${keyId}.`);
    return toKey(row);
  }

  async #lockProject(organizationId: string, projectId: string): Promise<Project> {
    const [row] = await this.#run('lockProject', [projectId, organizationId]);
    if (row === undefined) throw noProject(projectId);
    return toProject(row);
  }

  /** It is not deleted before the transaction ends. */
  async #requireProject(organizationId: string, projectId: string): Promise<void> {
    const [row] = await this.#run('shareProject', [projectId, organizationId]);
    if (row === undefined) throw noProject(projectId);
  }

  async #requireOrganization(id: string): Promise<void> {
    const [row] = await this.#run('findOrganization', [id]);
    if (row === undefined) throw new CallerStatsError('not_found', `There is no organization ${id}.`);
  }

  async #log(
    { organizationId, action, targetId, detail }: Event,
    { name, address, at }: Actor,
  ): Promise<void> {
    await this.#run('addAuditEntry', [organizationId, at, name, address, action, targetId, detail]);
  }

  async #insert(name: StatementName, values: readonly unknown[], taken: string): Promise<void> {
    try {
      await this.#run(name, values);
    } catch (error) {
      throw isConflict(error) ? new CallerStatsError('already_exists', taken) : error;
    }
  }

  #run(name: StatementName, values: readonly unknown[]): Promise<Row[]> {
    return this.#session.query(this.#statements[name], values);
  }
}

function keyEvent(action: AuditAction, { organizationId, id, name }: ApiKey): Event {
  return { organizationId, action, targetId: id, detail: name };
}

function noProject(id: string): CallerStatsError {
  return new CallerStatsError('not_found', `There is no project ${id}.`);
}

function requireMember(rows: readonly Row[], email: string): void {
  if (rows.length === 0) throw new CallerStatsError('not_found', `There is no member ${email}.`);
}
