/** `GET …/audit`: who changed what, newest first. */
import type { FastifyInstance } from 'fastify';
import type { AuditEntry } from '../../domain/audit.js';
import { addResource } from '../resource.js';
import type { Dashboard } from './context.js';
import { organizationIdOf } from './path.js';
import { toTime } from './time.js';

export function addAudit(app: FastifyInstance, { store, door }: Dashboard): void {
  addResource(app, '/api/organizations/:organizationId/audit', {
    onRequest: door.requireMember('owner'),
    GET: {
      schema: { hide: true },
      handler: async (request) => {
        const limit = 50;
        const entries = await store.readAudit(organizationIdOf(request), { limit: limit + 1 });
        return { entries: entries.slice(0, limit).map(toListed), more: entries.length > limit };
      },
    },
  });
}

function toListed({ at, ...entry }: AuditEntry) {
  return { at: toTime(at), ...entry };
}
