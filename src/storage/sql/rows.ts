/** Columns that every SQL store has, and their rows as the domain knows them. */
import type { ApiKey, KeyType, Scope } from '../../domain/keys/api-key.js';
import type { AuditAction, AuditEntry } from '../../domain/people/audit.js';
import type { Invitation, Membership } from '../../domain/people/invitation.js';
import type { Member, Role } from '../../domain/people/member.js';
import type { Organization, Project } from '../../domain/projects/project.js';

export const ORGANIZATION_COLUMNS = 'id, name, created_at AS "createdAt"';

/** The columns of a project, each named as its field, after `prefix` where two tables are read at once. */
export function projectColumns(table: string, prefix = ''): string {
  return columns(table, prefix, {
    id: 'id',
    organizationId: 'organization_id',
    name: 'name',
    createdAt: 'created_at',
    timeZone: 'time_zone',
    retentionDays: 'retention_days',
    rowsFrom: 'rows_from',
  });
}

const KEY_COLUMNS = {
  id: 'id',
  organizationId: 'organization_id',
  projectId: 'project_id',
  type: 'type',
  name: 'name',
  hash: 'hash',
  start: 'start',
  end: '"end"',
  createdBy: 'created_by',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  revokedAt: 'revoked_at',
  lastUsedAt: 'last_used_at',
  disabledAt: 'disabled_at',
  scopes: 'scopes',
  allow: 'allow',
  successorId: 'successor_id',
} as const satisfies Readonly<Record<keyof ApiKey, string>>;

export function keyColumns(table: string): string {
  return columns(table, '', KEY_COLUMNS);
}

/** The columns of a key, and its values in their order, for inserting it. */
export const KEY_COLUMN_NAMES = Object.values(KEY_COLUMNS).join(', ');

export function keyValues(key: ApiKey): (string | number | null)[] {
  return (Object.keys(KEY_COLUMNS) as (keyof ApiKey)[]).map((field) => {
    const value = key[field];
    return typeof value === 'object' && value !== null ? value.join() : value;
  });
}

export const MEMBER_COLUMNS = 'organization_id AS "organizationId", email, role, created_at AS "createdAt"';

export function toMember(row: Row): Member {
  return {
    organizationId: String(row['organizationId']),
    email: String(row['email']),
    role: row['role'] as Role,
    createdAt: Number(row['createdAt']),
  };
}

export const MEMBERSHIP_COLUMNS =
  'organization.id AS "organizationId", organization.name AS "organizationName", member.role';

export function toMembership(row: Row): Membership {
  return {
    organizationId: String(row['organizationId']),
    organizationName: String(row['organizationName']),
    role: row['role'] as Role,
  };
}

const INVITATION_COLUMNS = {
  id: 'id',
  organizationId: 'organization_id',
  email: 'email',
  role: 'role',
  tokenHash: 'token_hash',
  createdBy: 'created_by',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
} as const satisfies Readonly<Record<keyof Invitation, string>>;

export const INVITATION_COLUMN_NAMES = Object.values(INVITATION_COLUMNS).join(', ');

export function invitationColumns(table: string): string {
  return columns(table, '', INVITATION_COLUMNS);
}

export function invitationValues(invitation: Invitation): (string | number | null)[] {
  return (Object.keys(INVITATION_COLUMNS) as (keyof Invitation)[]).map((field) => invitation[field]);
}

export function toInvitation(row: Row): Invitation {
  return {
    id: String(row['id']),
    organizationId: String(row['organizationId']),
    email: row['email'] as string | null,
    role: row['role'] as Role,
    tokenHash: String(row['tokenHash']),
    createdBy: String(row['createdBy']),
    createdAt: Number(row['createdAt']),
    expiresAt: Number(row['expiresAt']),
  };
}

export const AUDIT_COLUMNS = 'number, at, actor, address, action, target_id AS "targetId", detail';

export function toAuditEntry(row: Row): AuditEntry {
  return {
    number: Number(row['number']),
    at: Number(row['at']),
    actor: String(row['actor']),
    address: row['address'] as string | null,
    action: row['action'] as AuditAction,
    targetId: String(row['targetId']),
    detail: String(row['detail']),
  };
}

function columns(table: string, prefix: string, byField: Readonly<Record<string, string>>): string {
  return Object.entries(byField)
    .map(([field, column]) => `${table}.${column} AS "${fieldName(prefix, field)}"`)
    .join(', ');
}

/** `found` and `createdAt` make `foundCreatedAt`. */
function fieldName(prefix: string, field: string): string {
  return prefix === '' ? field : prefix + field.charAt(0).toUpperCase() + field.slice(1);
}

/** A row as a driver gives it: without a prototype, or with large integers as text. */
type Row = Readonly<Record<string, unknown>>;

export function toOrganization(row: Row): Organization {
  return { id: String(row['id']), name: String(row['name']), createdAt: Number(row['createdAt']) };
}

export function toProject(row: Row, prefix = ''): Project {
  return {
    id: String(row[fieldName(prefix, 'id')]),
    organizationId: String(row[fieldName(prefix, 'organizationId')]),
    name: String(row[fieldName(prefix, 'name')]),
    createdAt: Number(row[fieldName(prefix, 'createdAt')]),
    timeZone: row[fieldName(prefix, 'timeZone')] as string | null,
    retentionDays: toNumber(row[fieldName(prefix, 'retentionDays')]),
    rowsFrom: toNumber(row[fieldName(prefix, 'rowsFrom')]),
  };
}

export function toKey(row: Row): ApiKey {
  return {
    id: String(row['id']),
    organizationId: String(row['organizationId']),
    projectId: row['projectId'] as string | null,
    type: row['type'] as KeyType,
    name: String(row['name']),
    hash: String(row['hash']),
    start: String(row['start']),
    end: String(row['end']),
    createdBy: String(row['createdBy']),
    createdAt: Number(row['createdAt']),
    expiresAt: toNumber(row['expiresAt']),
    revokedAt: toNumber(row['revokedAt']),
    lastUsedAt: toNumber(row['lastUsedAt']),
    disabledAt: toNumber(row['disabledAt']),
    scopes: toList(row['scopes']) as Scope[],
    allow: toList(row['allow']),
    successorId: row['successorId'] as string | null,
  };
}

/** A number that may be none. */
export function toNumber(value: unknown): number | null {
  return value === null ? null : Number(value);
}

/** Lists are kept as text with commas; an empty text is an empty list. */
function toList(value: unknown): string[] {
  return value === '' ? [] : String(value).split(',');
}
