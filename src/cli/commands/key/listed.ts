import { type ApiKey, keyStatus } from '../../../domain/keys/api-key.js';
import { formatTime } from '../../terminal/output.js';

/** What may be shown of a key. */
export function toListed(key: ApiKey, nowMs: number) {
  const time = (timeMs: number | null) => (timeMs === null ? null : formatTime(timeMs));
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
    createdAt: formatTime(key.createdAt),
    createdBy: key.createdBy,
    expiresAt: time(key.expiresAt),
    disabledAt: time(key.disabledAt),
    revokedAt: time(key.revokedAt),
    lastUsedAt: time(key.lastUsedAt),
    successor: key.successorId,
  };
}

/** A key in one line: `k1 (reporting, cs_admin_abcd…wxyz)`. */
export function nameOf({ id, name, start, end }: ApiKey): string {
  return `${id} (${name}, ${start}…${end})`;
}
