/** Projects and keys as tests need them, and who makes them. */
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import type { Actor } from '../../../src/domain/people/audit.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import type { Project } from '../../../src/domain/projects/project.js';
import type { ShareLink } from '../../../src/domain/projects/share-link.js';
import { mapTelemetrySettings } from '../../../src/domain/queries/telemetry-settings.js';

/** Who makes changes in tests. */
export const by: Actor = { name: 'a test', address: null, at: 1000 };

export function projectOf(id: string, more: Partial<Project> = {}): Project {
  return {
    id,
    organizationId: DEFAULT_ORGANIZATION_ID,
    name: id,
    createdAt: 1000,
    timeZone: null,
    weekStart: null,
    retentionDays: null,
    earliestAt: null,
    rowsFrom: null,
    ...mapTelemetrySettings(() => null),
    ...more,
  };
}

/** A share link whose token's hash is `hash of` its id. */
export function shareLinkOf(id: string, projectId: string, more: Partial<ShareLink> = {}): ShareLink {
  return {
    id,
    organizationId: DEFAULT_ORGANIZATION_ID,
    projectId,
    name: `link ${id}`,
    tokenHash: `hash of ${id}`,
    end: 'wxyz',
    passwordHash: null,
    origins: [],
    createdBy: 'a test',
    createdAt: 1000,
    expiresAt: null,
    ...more,
  };
}

export function keyOf(id: string, more: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    organizationId: DEFAULT_ORGANIZATION_ID,
    projectId: null,
    type: 'admin',
    name: `key ${id}`,
    hash: `hash of ${id}`,
    start: 'cs_admin_abcd',
    end: 'wxyz',
    createdBy: 'a test',
    createdAt: 1000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    disabledAt: null,
    scopes: ['read', 'write'],
    allow: [],
    successorId: null,
    ...more,
  };
}
