/** An organization itself. */
import type { FastifyInstance } from 'fastify';
import { organizationToJson } from '../../../app/json.js';
import { name, readFields } from '../../request/fields.js';
import type { Dashboard } from '../context.js';

export function addOrganization(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  sessionGuard.addMemberResource(app, '', 'owner', {
    PATCH: async ({ organizationId, by }, request) => {
      const fields = readFields(request, { name });
      return organizationToJson(await store.renameOrganization(organizationId, fields.name, by));
    },
  });
}
