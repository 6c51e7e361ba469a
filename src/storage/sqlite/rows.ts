import type { ApiKey, KeyType } from '../../domain/api-key.js';
import type { Organization, Project } from '../../domain/project.js';

export const ORGANIZATION_COLUMNS = 'id, name, created_at AS createdAt';
export const PROJECT_COLUMNS = 'id, organization_id AS organizationId, name, created_at AS createdAt';
export const KEY_COLUMNS = `id, organization_id AS organizationId, project_id AS projectId, type, name, hash, start,
  "end", created_by AS createdBy, created_at AS createdAt, expires_at AS expiresAt, revoked_at AS revokedAt,
  last_used_at AS lastUsedAt`;

/** A row of the driver, which has no prototype, as a plain object. */
type Row = Readonly<Record<string, unknown>>;

export function toOrganization(row: Row): Organization {
  return { id: String(row['id']), name: String(row['name']), createdAt: Number(row['createdAt']) };
}

export function toProject(row: Row): Project {
  return {
    id: String(row['id']),
    organizationId: String(row['organizationId']),
    name: String(row['name']),
    createdAt: Number(row['createdAt']),
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
    expiresAt: row['expiresAt'] as number | null,
    revokedAt: row['revokedAt'] as number | null,
    lastUsedAt: row['lastUsedAt'] as number | null,
  };
}
