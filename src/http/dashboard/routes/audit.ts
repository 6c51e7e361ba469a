/** `GET …/audit`: who changed what, newest first. */
import type { FastifyInstance } from 'fastify';
import { AUDIT_FIELDS, parseAuditFilter, readAuditPage } from '../../../app/audit.js';
import { readParameters } from '../../request/parameters.js';
import type { Dashboard } from '../context.js';
import type { AuditResponse } from '../responses.js';

const PARAMETERS = Object.fromEntries(AUDIT_FIELDS.map((name) => [name, name]));

export function addAudit(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  sessionGuard.addMemberResource(app, '/audit', 'owner', {
    GET: async ({ organizationId }, request): Promise<AuditResponse> => {
      const filter = readParameters(request, PARAMETERS, (parameters) => parseAuditFilter(parameters));
      return readAuditPage(store, organizationId, filter);
    },
  });
}
