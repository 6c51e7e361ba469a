/** Reads of organizations, projects, keys and people, for every SQL database. Each is one statement. */
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { Organization, Project } from '../../domain/projects/project.js';
import type { DirectoryReads, NamedInvitation } from '../ports/directory.js';
import { AUDIT_ENTRY, INVITATION, KEY, MEMBER, MEMBERSHIP, ORGANIZATION, PROJECT } from './rows.js';
import type { Dialect, Session } from './session.js';

/** The owner whose account is the oldest, of all organizations. Set-up is open while there is none. */
export function findFirstOwner({ table }: Dialect): string {
  return `SELECT member.email FROM ${table('member')} JOIN ${table('user_account')} ON user_account.email = member.email
    WHERE member.role = 'owner' ORDER BY user_account.created_at, user_account.id LIMIT 1`;
}

export class SqlDirectoryReads implements DirectoryReads {
  readonly #session: Session;
  readonly #dialect: Dialect;
  readonly #table: Dialect['table'];

  constructor(session: Session, dialect: Dialect) {
    this.#session = session;
    this.#dialect = dialect;
    this.#table = dialect.table;
  }

  async listOrganizations(): Promise<Organization[]> {
    const rows = await this.#session.all(
      `SELECT ${ORGANIZATION.of('organization')} FROM ${this.#table('organization')} ORDER BY created_at, id`,
    );
    return rows.map((row) => ORGANIZATION.read(row));
  }

  async listProjects(organizationId: string): Promise<Project[]> {
    const rows = await this.#session.all(
      `SELECT ${PROJECT.of('project')} FROM ${this.#table('project')}
       WHERE organization_id = $1 ${this.#dialect.andNotDeleted} ORDER BY created_at, id`,
      [organizationId],
    );
    return rows.map((row) => PROJECT.read(row));
  }

  async findProject(organizationId: string, projectId: string): Promise<Project | undefined> {
    const row = await this.#session.get(
      `SELECT ${PROJECT.of('project')} FROM ${this.#table('project')}
       WHERE id = $1 AND organization_id = $2 ${this.#dialect.andNotDeleted}`,
      [projectId, organizationId],
    );
    return row && PROJECT.read(row);
  }

  async listKeys(organizationId: string): Promise<ApiKey[]> {
    const rows = await this.#session.all(
      `SELECT ${KEY.of('api_key')} FROM ${this.#table('api_key')} WHERE organization_id = $1 ORDER BY created_at, id`,
      [organizationId],
    );
    return rows.map((row) => KEY.read(row));
  }

  async listMembers(organizationId: string): Promise<Member[]> {
    const rows = await this.#session.all(
      `SELECT ${MEMBER.of('member')} FROM ${this.#table('member')} WHERE organization_id = $1 ORDER BY created_at, email`,
      [organizationId],
    );
    return rows.map((row) => MEMBER.read(row));
  }

  /** The statement names only the given filters, so that the index for them is used. */
  async readAudit(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]> {
    const { from, to, before, actor, action, targetId, limit } = filter;
    const conditions: readonly (readonly [condition: string, value: string | number | undefined])[] = [
      ['organization_id =', organizationId],
      ['actor =', actor],
      ['action =', action],
      ['target_id =', targetId],
      ['number <', before],
      ['at >=', from],
      ['at <', to],
    ];
    const given = conditions.filter(([, value]) => value !== undefined);
    const where = given.map(([condition], index) => `${condition} $${index + 1}`).join(' AND ');
    const rows = await this.#session.all(
      `SELECT ${AUDIT_ENTRY.of('audit')} FROM ${this.#table('audit')} WHERE ${where}
       ORDER BY number DESC LIMIT $${given.length + 1}`,
      [...given.map(([, value]) => value), limit],
    );
    return rows.map((row) => AUDIT_ENTRY.read(row));
  }

  async listMemberships(email: string): Promise<Membership[]> {
    const rows = await this.#session.all(
      `SELECT organization.id AS "organizationId", organization.name AS "organizationName", member.role
       FROM ${this.#table('member')} JOIN ${this.#table('organization')} ON organization.id = member.organization_id
       WHERE member.email = $1 ORDER BY organization.created_at, organization.id`,
      [email],
    );
    return rows.map((row) => MEMBERSHIP.read(row));
  }

  async findUserNames(emails: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#session.all<{ readonly email: string; readonly name: string }>(
      `SELECT email, name FROM ${this.#table('user_account')} WHERE email IN (${this.#dialect.jsonElements})`,
      [JSON.stringify(emails)],
    );
    return new Map(rows.map(({ email, name }) => [email, name]));
  }

  async isSetUpOpen(): Promise<boolean> {
    return (await this.#session.get(findFirstOwner(this.#dialect))) === undefined;
  }

  async listInvitations(organizationId: string, now: number): Promise<Invitation[]> {
    const rows = await this.#session.all(
      `SELECT ${INVITATION.of('invitation')} FROM ${this.#table('invitation')}
       WHERE organization_id = $1 AND email IS NOT NULL AND expires_at > $2 ORDER BY created_at, id`,
      [organizationId, now],
    );
    return rows.map((row) => INVITATION.read(row));
  }

  async findInvitation(tokenHash: string, now: number): Promise<NamedInvitation | undefined> {
    const row = await this.#session.get(
      `SELECT ${INVITATION.of('invitation')}, organization.name AS "organizationName"
       FROM ${this.#table('invitation')}
       JOIN ${this.#table('organization')} ON organization.id = invitation.organization_id
       WHERE token_hash = $1 AND expires_at > $2`,
      [tokenHash, now],
    );
    return row && { ...INVITATION.read(row), organizationName: String(row['organizationName']) };
  }
}
