/** Reads of organizations, projects, keys and people, for every SQL database. Each is one statement. */
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { ExpiryNotice } from '../../domain/keys/key-lifetime.js';
import { keyNoticesMax } from '../../domain/limits.js';
import type { AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member } from '../../domain/people/member.js';
import type { Organization } from '../../domain/projects/organization.js';
import type { Project } from '../../domain/projects/project.js';
import type { ShareLink } from '../../domain/projects/share-link.js';
import type { DirectoryReads, NamedInvitation, UserSummary } from '../ports/directory.js';
import {
  AUDIT_ENTRY,
  INVITATION,
  KEY,
  MEMBER,
  ORGANIZATION,
  PROJECT,
  SHARE_LINK,
  splitList,
} from './rows.js';
import type { Dialect } from './session.js';
import { SqlTables, turns } from './tables.js';

/**
 * Whether a `user_account` with the address of a member opens the organization: a verified provider has proved that the address is
 * the account's, or the organization's own link has. The links of others do not, because their owners may have opened them.
 */
export function opens({ table }: Dialect, organization = 'member.organization_id'): string {
  return `(user_account.email_verified OR EXISTS (SELECT 1 FROM ${table('user_organization')}
    WHERE user_organization.organization_id = ${organization} AND user_organization.user_id = user_account.id))`;
}

/** The owner whose account is the oldest, of all organizations. Set-up is open while there is none. */
export function findFirstOwner(dialect: Dialect): string {
  const { table } = dialect;
  return `SELECT member.email FROM ${table('member')} JOIN ${table('user_account')} ON user_account.email = member.email
    WHERE member.role = 'owner' AND ${opens(dialect)} ORDER BY user_account.created_at, user_account.id LIMIT 1`;
}

const BY_CREATION = ['createdAt', 'id'] as const;

/** Entries of the audit log that are looked at in one turn of the event loop. */
const auditEntriesInPart = 2_000;

type Condition = readonly [condition: string, value: string | number];

/** The conditions that have a value. Statements name only them, so that the index for them is used. */
function given(
  ...conditions: readonly (readonly [condition: string, value: string | number | undefined])[]
): Condition[] {
  return conditions.filter((one): one is Condition => one[1] !== undefined);
}

function allOf(conditions: readonly Condition[]) {
  const where = conditions.map(([condition], at) => `${condition} $${at + 1}`).join(' AND ');
  return { where, values: conditions.map(([, value]) => value) };
}

/** Sorts by creation what was read by address. */
function byCreation<Entity extends { readonly createdAt: number }>(entities: readonly Entity[]): Entity[] {
  return entities.toSorted((one, other) => one.createdAt - other.createdAt);
}

export class SqlDirectoryReads extends SqlTables implements DirectoryReads {
  /** The table from which projects are listed. */
  protected readonly projectsTable: () => Promise<string> = () => Promise.resolve(PROJECT.table);

  listOrganizations(): Promise<Organization[]> {
    return this.list(ORGANIZATION, 'ORDER BY created_at, id', []);
  }

  async listProjects(organizationId: string): Promise<Project[]> {
    return this.listLong(
      PROJECT,
      BY_CREATION,
      this.#ofProjects,
      [organizationId],
      await this.projectsTable(),
    );
  }

  async countProjects(organizationId: string): Promise<number> {
    return this.count(await this.projectsTable(), this.#ofProjects, [organizationId]);
  }

  get #ofProjects(): string {
    return `organization_id = $1 ${this.dialect.andNotDeleted}`;
  }

  findProject(organizationId: string, projectId: string): Promise<Project | undefined> {
    const rest = `WHERE id = $1 AND organization_id = $2 ${this.dialect.andNotDeleted}`;
    return this.find(PROJECT, rest, [projectId, organizationId]);
  }

  listKeys(organizationId: string): Promise<ApiKey[]> {
    return this.listLong(KEY, BY_CREATION, 'organization_id = $1', [organizationId]);
  }

  listKeysBy(organizationId: string, email: string): Promise<ApiKey[]> {
    const where = 'organization_id = $1 AND created_by = $2';
    return this.listLong(KEY, BY_CREATION, where, [organizationId, email]);
  }

  findKey(organizationId: string, keyId: string): Promise<ApiKey | undefined> {
    return this.find(KEY, 'WHERE organization_id = $1 AND id = $2', [organizationId, keyId]);
  }

  countKeys(organizationId: string): Promise<number> {
    return this.count('api_key', 'organization_id = $1 AND revoked_at IS NULL', [organizationId]);
  }

  listExpiringKeys(
    { from, until, usedSince }: ExpiryNotice,
    project?: Pick<Project, 'id' | 'organizationId'>,
  ): Promise<ApiKey[]> {
    const where = `WHERE expires_at > $1 AND expires_at <= $2 AND last_used_at >= $3 AND revoked_at IS NULL
      AND disabled_at IS NULL AND scopes LIKE '%write%'`;
    const order = `ORDER BY expires_at, id LIMIT ${keyNoticesMax}`;
    const values = [from, until, usedSince];
    if (project === undefined) return this.list(KEY, `${where} ${order}`, values);
    const ofProject = 'AND organization_id = $4 AND (project_id IS NULL OR project_id = $5)';
    const { organizationId, id } = project;
    return this.list(KEY, `${where} ${ofProject} ${order}`, [...values, organizationId, id]);
  }

  listShareLinks(organizationId: string, projectId: string): Promise<ShareLink[]> {
    const rest = 'WHERE organization_id = $1 AND project_id = $2 ORDER BY created_at, id';
    return this.list(SHARE_LINK, rest, [organizationId, projectId]);
  }

  findShareLink(tokenHash: string, now: number): Promise<ShareLink | undefined> {
    const rest = 'WHERE token_hash = $1 AND (expires_at IS NULL OR expires_at > $2)';
    return this.find(SHARE_LINK, rest, [tokenHash, now]);
  }

  async listMembers(organizationId: string): Promise<Member[]> {
    return byCreation(await this.listLong(MEMBER, ['email'], 'organization_id = $1', [organizationId]));
  }

  findMember(organizationId: string, email: string): Promise<Member | undefined> {
    return this.find(MEMBER, 'WHERE organization_id = $1 AND email = $2', [organizationId, email]);
  }

  /** Looks at a part of the log in each turn of the event loop: no index has it by all that a filter may ask for together. */
  async readAudit(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]> {
    const { from, to, actor, action, targetId, limit } = filter;
    const [indexed, ...others] = given(['target_id =', targetId], ['actor =', actor], ['action =', action]);
    const own = [['organization_id =', organizationId], ...(indexed === undefined ? [] : [indexed])] as const;
    const rest = [...others, ...given(['at >=', from], ['at <', to])];
    const found: AuditEntry[] = [];
    const readBefore = async (before: number | undefined): Promise<number | undefined> => {
      const earlier = [...own, ...given(['number <', before])];
      const end = rest.length === 0 ? undefined : await this.#findAudit(earlier, auditEntriesInPart - 1);
      const part = [...earlier, ...rest, ...given(['number >=', end])];
      const { where, values } = allOf(part);
      const entries = `WHERE ${where} ORDER BY number DESC LIMIT $${values.length + 1}`;
      found.push(...(await this.list(AUDIT_ENTRY, entries, [...values, limit - found.length])));
      return end;
    };
    let end = await readBefore(filter.before);
    while (end !== undefined && found.length < limit) {
      const before: number = end;
      end = await turns.next(() => readBefore(before));
    }
    return found;
  }

  /** The number of the newest entry after the first `skipped`. */
  async #findAudit(conditions: readonly Condition[], skipped: number): Promise<number | undefined> {
    const { where, values } = allOf(conditions);
    const entry = `SELECT number FROM ${this.table('audit')} WHERE ${where} ORDER BY number DESC LIMIT 1 OFFSET ${skipped}`;
    return (await this.get<{ readonly number: number }>(entry, values))?.number;
  }

  async listMemberships(email: string): Promise<Membership[]> {
    const rows = await this.session.all<Membership & { readonly projects: string }>(
      `SELECT organization.id AS "organizationId", organization.name AS "organizationName",
         organization.second_factor AS "secondFactor", member.role, member.projects
       FROM ${this.table('member')} JOIN ${this.table('organization')} ON organization.id = member.organization_id
       LEFT JOIN ${this.table('user_account')} ON user_account.email = member.email
       WHERE member.email = $1 AND (user_account.id IS NULL OR ${opens(this.dialect)})
       ORDER BY organization.created_at, organization.id`,
      [email],
    );
    return rows.map((row) => ({ ...row, projects: splitList(row.projects) }));
  }

  async isExpected(email: string, now: number): Promise<boolean> {
    const found = await this.get(
      `SELECT 1 AS one FROM ${this.table('member')} WHERE email = $1
       UNION ALL SELECT 1 FROM ${this.table('invitation')} WHERE email = $1 AND expires_at > $2 LIMIT 1`,
      [email, now],
    );
    return found !== undefined;
  }

  async findUsers(
    emails: readonly string[],
    organizationId?: string,
  ): Promise<ReadonlyMap<string, UserSummary>> {
    const only = organizationId === undefined ? [] : [organizationId];
    const rows = await this.session.all<{
      readonly email: string;
      readonly name: string;
      readonly factors: number;
    }>(
      `SELECT email, name, CASE WHEN two_factor_enabled OR EXISTS (
         SELECT 1 FROM ${this.table('user_passkey')} WHERE user_passkey.user_id = user_account.id) THEN 1 ELSE 0 END AS factors
       FROM ${this.table('user_account')} WHERE email IN (${this.dialect.jsonElements('$1')})
         ${only.length === 0 ? '' : `AND ${opens(this.dialect, '$2')}`}`,
      [JSON.stringify(emails), ...only],
    );
    return new Map(rows.map(({ email, name, factors }) => [email, { name, secondFactor: factors === 1 }]));
  }

  async isSetUpOpen(): Promise<boolean> {
    return (await this.get(findFirstOwner(this.dialect))) === undefined;
  }

  async findSecret(name: string): Promise<string | undefined> {
    const row = await this.get<{ readonly value: string }>(
      `SELECT value FROM ${this.table('server_secret')} WHERE name = $1`,
      [name],
    );
    return row?.value;
  }

  async listInvitations(organizationId: string, now: number): Promise<Invitation[]> {
    const where = 'organization_id = $1 AND email IS NOT NULL AND expires_at > $2';
    return byCreation(await this.listLong(INVITATION, ['email'], where, [organizationId, now]));
  }

  async findInvitation(tokenHash: string, now: number): Promise<NamedInvitation | undefined> {
    return (await this.#findInvitations('token_hash', tokenHash, now))[0];
  }

  listInvitationsFor(email: string, now: number): Promise<NamedInvitation[]> {
    return this.#findInvitations('email', email, now);
  }

  async #findInvitations(
    column: 'token_hash' | 'email',
    value: string,
    now: number,
  ): Promise<NamedInvitation[]> {
    const rows = await this.session.all(
      `SELECT ${INVITATION.select()}, organization.name AS "organizationName"
       FROM ${this.table('invitation')}
       JOIN ${this.table('organization')} ON organization.id = invitation.organization_id
       WHERE ${column} = $1 AND expires_at > $2 ORDER BY organization.created_at, organization.id`,
      [value, now],
    );
    return rows.map((row) => ({
      ...INVITATION.read(row),
      organizationName: String(row['organizationName']),
    }));
  }
}
