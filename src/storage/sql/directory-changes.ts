/**
 * Changes of organizations, projects, keys and people, with their rules and audit entries, for every SQL database. Each
 * method is one transaction (on SQLite a savepoint of one): an error undoes all of it.
 *
 * On PostgreSQL several changes run at once. They lock rows in one order: organization, project, key, member.
 */
import { CallerStatsError } from '../../domain/errors.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { membersMax, shareLinksMax } from '../../domain/limits.js';
import type { Actor, AuditAction } from '../../domain/people/audit.js';
import { type Invitation, invalidInvitationError } from '../../domain/people/invitation.js';
import {
  describeRights,
  lastOpenOwnerError,
  lastOwnerError,
  type Member,
  type Rights,
  toEmail,
} from '../../domain/people/member.js';
import {
  type NewOrganization,
  type Organization,
  type OrganizationChange,
  requireRoom,
} from '../../domain/projects/organization.js';
import {
  applyChange,
  type NewProject,
  type Project,
  type ProjectChange,
} from '../../domain/projects/project.js';
import { describeShareLink, type ShareLink } from '../../domain/projects/share-link.js';
import { dayMs } from '../../domain/time/duration.js';
import type { DirectoryChanges, KeyChange, UserChange } from '../ports/directory.js';
import { type AuditEvent, notFound, SqlChanges } from './changes.js';
import { findFirstOwner, opens } from './directory-reads.js';
import { type Columns, INVITATION, KEY, MEMBER, ORGANIZATION, PROJECT, SHARE_LINK } from './rows.js';

/** The changes that may safely run twice, and need no other transaction to wait for them: each is one statement. */
export const REPEATABLE_CHANGES: readonly (keyof DirectoryChanges)[] = [
  'touchKey',
  'pruneKeys',
  'pruneAudit',
];

/** How a key is changed in place; without effect if it is in that state already. */
const KEY_CHANGES = {
  revoke: { set: 'revoked_at = $3', where: 'revoked_at IS NULL', action: 'key.revoke' },
  disable: { set: 'disabled_at = $3', where: 'disabled_at IS NULL', action: 'key.disable' },
  enable: { set: 'disabled_at = NULL', where: 'disabled_at IS NOT NULL', action: 'key.enable' },
} as const satisfies Readonly<Record<KeyChange, { set: string; where: string; action: AuditAction }>>;

export class SqlDirectoryChanges extends SqlChanges implements DirectoryChanges {
  async createOrganization(organization: NewOrganization, by: Actor): Promise<void> {
    const { id, name } = organization;
    if (!(await this.#insert(ORGANIZATION, { secondFactor: 'optional', ...organization })))
      throw alreadyExists(`There is an organization ${id} already.`);
    await this.log({ organizationId: id, action: 'organization.create', targetId: id, detail: name }, by);
  }

  async changeOrganization(
    organizationId: string,
    change: OrganizationChange,
    by: Actor,
  ): Promise<Organization> {
    const before = await this.#requireOrganization(organizationId, this.dialect.lock('UPDATE'));
    const { name = before.name, secondFactor = before.secondFactor } = change;
    const changes = [
      ...(name === before.name ? [] : [`name: ${before.name}, now ${name}`]),
      ...(secondFactor === before.secondFactor ? [] : [`second factor: ${secondFactor}`]),
    ];
    if (changes.length === 0) return before;
    await this.session.run(
      `UPDATE ${this.table('organization')} SET name = $2, second_factor = $3 WHERE id = $1`,
      [organizationId, name, secondFactor],
    );
    const detail = changes.join('; ');
    await this.log({ organizationId, action: 'organization.change', targetId: organizationId, detail }, by);
    return { ...before, name, secondFactor };
  }

  async createProject(project: NewProject, by: Actor): Promise<void> {
    const { id, organizationId, name } = project;
    await this.#requireOrganization(organizationId);
    if (!(await this.#insert(PROJECT, { ...project, rowsFrom: null }))) {
      throw alreadyExists(await this.#whyTaken(organizationId, id));
    }
    await this.dialect.projectChanged(this.session, id);
    await this.log({ organizationId, action: 'project.create', targetId: id, detail: name }, by);
  }

  /** Ids are unique across organizations. Of the projects of others, the message says nothing but that the id is not free. */
  async #whyTaken(organizationId: string, id: string): Promise<string> {
    const own = 'WHERE id = $1 AND organization_id = $2';
    if (await this.find(PROJECT, `${own} ${this.dialect.andNotDeleted}`, [id, organizationId]))
      return `There is a project ${id} already.`;
    if (await this.find(PROJECT, own, [id, organizationId]))
      return `There was a project ${id}, and its queries are still being removed. Try again in a while, or choose another id.`;
    return `The id ${id} is not free on this server. Choose another one.`;
  }

  async changeProject(
    organizationId: string,
    projectId: string,
    change: ProjectChange,
    by: Actor,
  ): Promise<Project> {
    const before = await this.lockProject(organizationId, projectId, 'UPDATE');
    const { project, detail } = applyChange(before, change);
    if (detail === '') return project;
    await this.session.run(
      `UPDATE ${this.table('project')} SET name = $2, time_zone = $3, week_start = $4, retention_days = $5, telemetry = $6, earliest_at = $7
       WHERE id = $1`,
      [
        ...[projectId, project.name, project.timeZone, project.weekStart, project.retentionDays],
        PROJECT.pack(project),
        project.earliestAt,
      ],
    );
    await this.dialect.projectChanged(this.session, projectId);
    await this.log({ organizationId, action: 'project.change', targetId: projectId, detail }, by);
    return project;
  }

  async deleteProject(organizationId: string, projectId: string, by: Actor): Promise<void> {
    const { name } = await this.lockProject(organizationId, projectId, 'UPDATE');
    // First the links, which refer to the project.
    await this.session.run(`DELETE FROM ${this.table('share_link')} WHERE project_id = $1`, [projectId]);
    await this.dialect.deleteProject(this.session, projectId, by.at);
    await this.session.run(`DELETE FROM ${this.table('notification')} WHERE project_id = $1`, [projectId]);
    // A later project with this id is another one.
    for (const table of ['member', 'invitation'])
      await this.session.run(
        `UPDATE ${this.table(table)} SET projects = trim(replace(',' || projects || ',', ',' || $2 || ',', ','), ',')
         WHERE organization_id = $1 AND ',' || projects || ',' LIKE '%,' || $2 || ',%'`,
        [organizationId, projectId],
      );
    await this.log({ organizationId, action: 'project.delete', targetId: projectId, detail: name }, by);
  }

  async createKey(key: ApiKey, by: Actor): Promise<void> {
    await this.#insertKey(key);
    await this.log(keyEvent('key.create', key), by);
  }

  async changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): Promise<ApiKey> {
    const { set, where, action } = KEY_CHANGES[change];
    const values = change === 'enable' ? [organizationId, keyId] : [organizationId, keyId, by.at];
    const key = await this.#updateKey(set, where, values);
    if (key === undefined) return this.#requireKey(organizationId, keyId);
    await this.log(keyEvent(action, key), by);
    return key;
  }

  async rotateKey(
    organizationId: string,
    keyId: string,
    successor: ApiKey,
    expiresAt: number,
    by: Actor,
  ): Promise<void> {
    // Locks the project before the key, as a deletion does.
    if (successor.projectId !== null) await this.lockProject(organizationId, successor.projectId, 'SHARE');
    // Of two rotations at once, only one can make this change.
    const key = await this.#updateKey(
      'expires_at = $3, successor_id = $4',
      'revoked_at IS NULL AND successor_id IS NULL',
      [organizationId, keyId, expiresAt, successor.id],
    );
    if (key === undefined) {
      await this.#requireKey(organizationId, keyId);
      throw new CallerStatsError('invalid', `The key ${keyId} was revoked or rotated already.`);
    }
    await this.#insertKey(successor);
    const detail = `${key.name}, succeeded by ${successor.id}`;
    await this.log({ ...keyEvent('key.rotate', key), detail }, by);
  }

  async createShareLink(link: ShareLink, by: Actor): Promise<void> {
    const { organizationId, projectId, id } = link;
    // Locked, so that links that are created at once do not pass the limit together.
    await this.lockProject(organizationId, projectId, 'UPDATE');
    const links = await this.list(SHARE_LINK, 'WHERE project_id = $1', [projectId]);
    if (links.length >= shareLinksMax) {
      const message = `The project has ${shareLinksMax} share links already; revoke one first.`;
      throw new CallerStatsError('invalid', message);
    }
    if (!(await this.#insert(SHARE_LINK, link))) throw alreadyExists(`There is a share link ${id} already.`);
    const detail = describeShareLink(link);
    await this.log({ organizationId, action: 'share_link.create', targetId: id, detail }, by);
  }

  async revokeShareLink(organizationId: string, shareLinkId: string, by: Actor): Promise<void> {
    const where = 'WHERE organization_id = $1 AND id = $2';
    const row = await this.get<{ readonly name: string; readonly project: string }>(
      `DELETE FROM ${this.table('share_link')} ${where} RETURNING name, project_id AS project`,
      [organizationId, shareLinkId],
    );
    if (row === undefined) throw notFound(`share link ${shareLinkId}`);
    const detail = `${row.name}, of project ${row.project}`;
    await this.log({ organizationId, action: 'share_link.revoke', targetId: shareLinkId, detail }, by);
  }

  async touchKey(keyId: string, usedAt: number): Promise<void> {
    await this.session.run(
      `UPDATE ${this.table('api_key')} SET last_used_at = $2
       WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2 OR last_used_at > $3)`,
      [keyId, usedAt, usedAt + dayMs],
    );
  }

  async pruneKeys(organizationId: string, kept: number): Promise<void> {
    const keys = this.table('api_key');
    // As many as there can be: SQLite has no `OFFSET` without a limit.
    await this.session.run(
      `DELETE FROM ${keys} WHERE id IN (
         SELECT id FROM ${keys} WHERE organization_id = $1 AND revoked_at IS NOT NULL
         ORDER BY revoked_at DESC, id LIMIT 1000000 OFFSET $2)`,
      [organizationId, kept],
    );
  }

  async addMember(member: Member, by: Actor): Promise<void> {
    const { organizationId, email } = member;
    await this.#requireOrganization(organizationId);
    await this.#lockProjects(member);
    if (!(await this.#insert(MEMBER, member))) throw alreadyExists(`${email} is a member already.`);
    await this.log(
      { organizationId, action: 'member.add', targetId: email, detail: describeRights(member) },
      by,
    );
  }

  async changeMember(
    organizationId: string,
    email: string,
    rights: Rights,
    by: Actor,
    revokesKeys = false,
  ): Promise<void> {
    const { role, projects } = rights;
    if (role !== 'owner') await this.#lockForLoss(organizationId, email, by);
    await this.#lockProjects({ organizationId, projects });
    const changed = await this.session.run(
      `UPDATE ${this.table('member')} SET role = $3, projects = $4 WHERE organization_id = $1 AND email = $2`,
      [organizationId, email, role, projects.join()],
    );
    if (changed === 0) throw notFound(`member ${email}`);
    const detail = describeRights(rights);
    await this.log({ organizationId, action: 'member.change', targetId: email, detail }, by);
    if (role !== 'owner') await this.#withdrawInvitationsBy(organizationId, email, by);
    if (revokesKeys) await this.#revokeKeysBy(organizationId, email, by);
  }

  async removeMember(organizationId: string, email: string, by: Actor, revokesKeys = false): Promise<void> {
    await this.#lockForLoss(organizationId, email, by);
    const removed = await this.session.run(
      `DELETE FROM ${this.table('member')} WHERE organization_id = $1 AND email = $2`,
      [organizationId, email],
    );
    if (removed === 0) throw notFound(`member ${email}`);
    await this.log({ organizationId, action: 'member.remove', targetId: email, detail: '' }, by);
    await this.#withdrawInvitationsBy(organizationId, email, by);
    if (revokesKeys) await this.#revokeKeysBy(organizationId, email, by);
  }

  async pruneAudit(before: number, limit: number): Promise<number> {
    const audit = this.table('audit');
    return this.session.run(
      `DELETE FROM ${audit} WHERE number IN (SELECT number FROM ${audit} WHERE at < $1 ORDER BY number LIMIT $2)`,
      [before, limit],
    );
  }

  async createInvitation(invitation: Invitation, by: Actor): Promise<void> {
    const { organizationId, email } = invitation;
    // Locked, so that of two invitations of one address, or two set-up links, at once the later replaces the earlier.
    await this.#requireOrganization(organizationId, this.dialect.lock('NO KEY UPDATE'));
    await this.#requireInviter(organizationId, by);
    await this.#lockProjects(invitation);
    if (email !== null) {
      const member = await this.get(
        `SELECT member.email FROM ${this.table('member')}
         JOIN ${this.table('user_account')} ON user_account.email = member.email
         WHERE member.organization_id = $1 AND member.email = $2 AND ${opens(this.dialect)}`,
        [organizationId, email],
      );
      if (member !== undefined) throw alreadyExists(`${email} is a member already.`);
    }
    await this.session.run(
      `DELETE FROM ${this.table('invitation')}
       WHERE organization_id = $1 AND (email IS NOT DISTINCT FROM $2 OR expires_at <= $3)`,
      [organizationId, email, by.at],
    );
    if (email !== null) await this.#requireMemberRoom(organizationId);
    await this.session.run(this.insertInto(INVITATION), INVITATION.values(invitation));
    if (email === null) return;
    await this.log(
      { organizationId, action: 'invitation.create', targetId: email, detail: describeRights(invitation) },
      by,
    );
  }

  /** Expired invitations have just been deleted. */
  async #requireMemberRoom(organizationId: string): Promise<void> {
    const of = 'organization_id = $1';
    const members = await this.count('member', of, [organizationId]);
    const invitations = await this.count('invitation', `${of} AND email IS NOT NULL`, [organizationId]);
    const what = 'members and invitations';
    requireRoom(members + invitations, membersMax, what, 'Remove members or withdraw invitations first.');
  }

  async revokeInvitation(organizationId: string, invitationId: string, by: Actor): Promise<void> {
    const row = await this.get<{ readonly email: string }>(
      `DELETE FROM ${this.table('invitation')} WHERE organization_id = $1 AND id = $2 AND email IS NOT NULL
       RETURNING email`,
      [organizationId, invitationId],
    );
    if (row === undefined) {
      throw new CallerStatsError('not_found', 'There is no such invitation; it was used or withdrawn.');
    }
    await this.log({ organizationId, action: 'invitation.revoke', targetId: row.email, detail: '' }, by);
  }

  async acceptInvitation(tokenHash: string, email: string, by: Actor): Promise<Member> {
    const member = await this.acceptOffer(tokenHash, email, by);
    await this.session.run(
      `INSERT INTO ${this.table('user_organization')} (organization_id, user_id)
       SELECT $1, id FROM ${this.table('user_account')} WHERE email = $2 ON CONFLICT DO NOTHING`,
      [member.organizationId, email],
    );
    return member;
  }

  async acceptOffer(tokenHash: string, email: string, by: Actor): Promise<Member> {
    const found = await this.#requireInvitation(tokenHash, by.at);
    // Of two people with the same link, the second waits here for the first, and looks again.
    await this.#requireOrganization(found.organizationId, this.dialect.lock('NO KEY UPDATE'));
    const invitation = await this.#requireInvitation(tokenHash, by.at);
    const { organizationId, role } = invitation;
    const projects = await this.#lockProjects(invitation, 'those that remain');
    await this.#consume(invitation, email);
    const where = 'WHERE organization_id = $1 AND email = $2';
    const present = await this.find(MEMBER, where, [organizationId, email]);
    if (present !== undefined && invitation.email !== null) return present;
    const joined = await this.get(
      `${this.insertInto(MEMBER)}
       ON CONFLICT (organization_id, email) DO UPDATE SET role = excluded.role, projects = excluded.projects RETURNING ${MEMBER.select()}`,
      MEMBER.values({ organizationId, email, role, projects, createdAt: by.at }),
    );
    const detail = `${describeRights({ role, projects })}, invited by ${invitation.createdBy}`;
    await this.log({ organizationId, action: 'member.add', targetId: email, detail }, by);
    return MEMBER.read(joined ?? {});
  }

  async acceptInvitationsFor(email: string, by: Actor): Promise<void> {
    const found = await this.session.all<{ readonly tokenHash: string }>(
      `SELECT token_hash AS "tokenHash" FROM ${this.table('invitation')} WHERE email = $1 AND expires_at > $2
       ORDER BY organization_id`,
      [email, by.at],
    );
    for (const { tokenHash } of found) {
      try {
        await this.acceptOffer(tokenHash, email, by);
      } catch (error) {
        // Used or withdrawn since it was found: nothing was changed for it.
        if (!(error instanceof CallerStatsError && error.code === 'not_found')) throw error;
      }
    }
  }

  async logUserChange(
    email: string,
    { action, detail }: UserChange,
    by: Actor,
    organizationId?: string,
  ): Promise<void> {
    const only = organizationId === undefined ? [] : [organizationId];
    const where =
      only.length === 0 ? `(user_account.id IS NULL OR ${opens(this.dialect)})` : 'organization_id = $7';
    await this.session.run(
      `INSERT INTO ${this.table('audit')} (organization_id, at, actor, address, action, target_id, detail)
       SELECT organization_id, $2, $3, $4, $5, $1, $6 FROM ${this.table('member')}
       LEFT JOIN ${this.table('user_account')} ON user_account.email = member.email
       WHERE member.email = $1 AND ${where} ORDER BY organization_id`,
      [email, by.at, by.name, by.address, action, detail, ...only],
    );
  }

  async keepSecret(name: string, proposed: string): Promise<string> {
    const secrets = this.table('server_secret');
    await this.session.run(
      `INSERT INTO ${secrets} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`,
      [name, proposed],
    );
    const row = await this.get(`SELECT value FROM ${secrets} WHERE name = $1`, [name]);
    return String(row?.['value']);
  }

  async removeSecret(name: string): Promise<void> {
    await this.session.run(`DELETE FROM ${this.table('server_secret')} WHERE name = $1`, [name]);
  }

  async #insertKey(key: ApiKey): Promise<void> {
    await this.#requireOrganization(key.organizationId);
    if (key.projectId !== null) await this.lockProject(key.organizationId, key.projectId, 'SHARE');
    if (!(await this.#insert(KEY, key))) throw alreadyExists(`There is a key ${key.id} already.`);
  }

  /** Changes a key that meets the condition `where`. `values` begin with its organization and id. */
  async #updateKey(set: string, where: string, values: readonly unknown[]): Promise<ApiKey | undefined> {
    const row = await this.get(
      `UPDATE ${this.table('api_key')} SET ${set} WHERE organization_id = $1 AND id = $2 AND ${where}
       RETURNING ${KEY.select()}`,
      values,
    );
    return row && KEY.read(row);
  }

  /** False if a unique key of the entity is taken. */
  async #insert<Entity extends object>(columns: Columns<Entity>, entity: Entity): Promise<boolean> {
    const insert = `${this.insertInto(columns)} ON CONFLICT DO NOTHING`;
    return (await this.session.run(insert, columns.values(entity))) > 0;
  }

  async #requireOrganization(id: string, lock = ''): Promise<Organization> {
    const organization = await this.find(ORGANIZATION, `WHERE id = $1 ${lock}`, [id]);
    if (organization === undefined) throw notFound(`organization ${id}`);
    return organization;
  }

  /**
   * Keeps the projects of a reader from being deleted until the transaction ends, and returns them. `not_found` without one of them, unless
   * those that remain are asked for.
   */
  async #lockProjects(
    { organizationId, projects }: Pick<Member, 'organizationId' | 'projects'>,
    which: 'all' | 'those that remain' = 'all',
  ): Promise<string[]> {
    const locked: string[] = [];
    for (const id of projects) {
      const project = await this.findLocked(organizationId, id, 'SHARE');
      if (project !== undefined) locked.push(id);
      else if (which === 'all') throw notFound(`project ${id}`);
    }
    return locked;
  }

  async #requireKey(organizationId: string, keyId: string): Promise<ApiKey> {
    const where = 'WHERE organization_id = $1 AND id = $2';
    const key = await this.find(KEY, where, [organizationId, keyId]);
    if (key === undefined) throw notFound(`key ${keyId}`);
    return key;
  }

  /**
   * Before a member loses the role of an owner: refuses to take away the last one. Locks the organization, so that an
   * invitation by the member is created before and withdrawn now, or not at all.
   */
  async #lockForLoss(organizationId: string, email: string, by: Actor): Promise<void> {
    await this.find(ORGANIZATION, `WHERE id = $1 ${this.dialect.lock('NO KEY UPDATE')}`, [organizationId]);
    await this.#requireAnotherOwner(organizationId, email, by);
  }

  async #requireInviter(organizationId: string, by: Actor): Promise<void> {
    if (!isUser(by)) return;
    const where = 'WHERE organization_id = $1 AND email = $2';
    const inviter = await this.find(MEMBER, where, [organizationId, by.name]);
    if (inviter?.role !== 'owner')
      throw new CallerStatsError('invalid', `${by.name} is not an owner any more.`);
  }

  async #withdrawInvitationsBy(organizationId: string, email: string, by: Actor): Promise<void> {
    const rows = await this.session.all<{ readonly email: string }>(
      `DELETE FROM ${this.table('invitation')} WHERE organization_id = $1 AND created_by = $2 AND email IS NOT NULL
       RETURNING email`,
      [organizationId, email],
    );
    const detail = `was made by ${email}`;
    for (const { email: targetId } of rows)
      await this.log({ organizationId, action: 'invitation.revoke', targetId, detail }, by);
  }

  async #revokeKeysBy(organizationId: string, email: string, by: Actor): Promise<void> {
    const { set, where, action } = KEY_CHANGES.revoke;
    const rows = await this.session.all(
      `UPDATE ${this.table('api_key')} SET ${set} WHERE organization_id = $1 AND created_by = $2 AND type = 'admin' AND ${where}
         AND (expires_at IS NULL OR expires_at > $3) RETURNING ${KEY.select()}`,
      [organizationId, email, by.at],
    );
    for (const row of rows) await this.log(keyEvent(action, KEY.read(row)), by);
  }

  /**
   * Refuses to take away the last owner, and lets users not take away the last one whose account opens the organization: only an
   * operator could open it again. Locks the owners in one order, so that of two changes at once that take away an owner each, the
   * second sees what the first did.
   */
  async #requireAnotherOwner(organizationId: string, email: string, by: Actor): Promise<void> {
    const owners = await this.session.all<{ readonly email: string; readonly opened: number }>(
      `SELECT email, CASE WHEN EXISTS (SELECT 1 FROM ${this.table('user_account')}
         WHERE user_account.email = member.email AND ${opens(this.dialect)}) THEN 1 ELSE 0 END AS opened
       FROM ${this.table('member')} WHERE organization_id = $1 AND role = 'owner'
       ORDER BY email ${this.dialect.lock('UPDATE')}`,
      [organizationId],
    );
    if (!owners.some((owner) => owner.email === email)) return;
    const others = owners.filter((owner) => owner.email !== email);
    if (others.length === 0) throw lastOwnerError(email);
    if (isUser(by) && !others.some(({ opened }) => opened === 1)) throw lastOpenOwnerError(email);
  }

  async #requireInvitation(tokenHash: string, now: number): Promise<Invitation> {
    const where = 'WHERE token_hash = $1 AND expires_at > $2';
    const invitation = await this.find(INVITATION, where, [tokenHash, now]);
    if (invitation === undefined) throw invalidInvitationError();
    return invitation;
  }

  /** Deletes an invitation, if it is for this address and may be used. */
  async #consume({ id, email }: Invitation, usedBy: string): Promise<void> {
    if (email !== null) {
      if (email !== usedBy) throw invalidInvitationError();
      await this.session.run(`DELETE FROM ${this.table('invitation')} WHERE id = $1`, [id]);
      return;
    }
    const first = await this.get<{ readonly email: string }>(findFirstOwner(this.dialect));
    // A person who was an owner before having an account, as after copying members, is the first one by now.
    if (first !== undefined && first.email !== usedBy) throw invalidInvitationError();
    // Of two people with set-up addresses of different organizations, the second finds here that its own is gone.
    const removed = await this.session.all<{ readonly id: string }>(
      `DELETE FROM ${this.table('invitation')} WHERE email IS NULL RETURNING id`,
    );
    if (!removed.some((row) => row.id === id)) throw invalidInvitationError();
  }
}

/** Other actors are the command line and the first start. */
function isUser({ name }: Actor): boolean {
  return toEmail(name) !== undefined;
}

function keyEvent(action: AuditAction, { organizationId, id, name }: ApiKey): AuditEvent {
  return { organizationId, action, targetId: id, detail: name };
}

function alreadyExists(message: string): CallerStatsError {
  return new CallerStatsError('already_exists', message);
}
