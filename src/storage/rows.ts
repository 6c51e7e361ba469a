/** Columns that every SQL store has, and their rows as the domain knows them. */
import type { ApiKey, KeyType } from '../domain/api-key.js';
import type { Organization, Project } from '../domain/project.js';

export const ORGANIZATION_COLUMNS = 'id, name, created_at AS "createdAt"';

/** The columns of a project, each named as its field, after `prefix` where two tables are read at once. */
export function projectColumns(table: string, prefix = ''): string {
  return columns(table, prefix, {
    id: 'id',
    organizationId: 'organization_id',
    name: 'name',
    createdAt: 'created_at',
  });
}

export function keyColumns(table: string): string {
  return columns(table, '', {
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
  });
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
    expiresAt: toTime(row['expiresAt']),
    revokedAt: toTime(row['revokedAt']),
    lastUsedAt: toTime(row['lastUsedAt']),
  };
}

function toTime(value: unknown): number | null {
  return value === null ? null : Number(value);
}
