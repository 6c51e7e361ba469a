/** The JSON shapes of keys and projects, the same for the command line's `--json` and the dashboard's API. */
import { type ApiKey, keyStatus } from '../domain/keys/api-key.js';
import type { Project } from '../domain/projects/project.js';

/** An API key without its hash. Times are RFC 3339 in UTC. */
export function toListedKey(key: ApiKey, nowMs: number) {
  return {
    id: key.id,
    name: key.name,
    type: key.type,
    project: key.projectId,
    scopes: key.scopes,
    allow: key.allow,
    start: key.start,
    end: key.end,
    status: keyStatus(key, nowMs),
    createdAt: toTime(key.createdAt),
    createdBy: key.createdBy,
    expiresAt: toTimeOrNull(key.expiresAt),
    disabledAt: toTimeOrNull(key.disabledAt),
    revokedAt: toTimeOrNull(key.revokedAt),
    lastUsedAt: toTimeOrNull(key.lastUsedAt),
    successor: key.successorId,
  };
}

export type ListedKey = Readonly<ReturnType<typeof toListedKey>>;

export function toListedProject({ id, name, createdAt, timeZone, retentionDays, rowsFrom }: Project) {
  return {
    id,
    name,
    createdAt: toTime(createdAt),
    timeZone,
    retentionDays,
    rowsFrom: toTimeOrNull(rowsFrom),
  };
}

export type ListedProject = Readonly<ReturnType<typeof toListedProject>>;

/** RFC 3339 in UTC with milliseconds. */
function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function toTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toTime(timeMs);
}
