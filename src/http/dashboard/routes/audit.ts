/** `GET …/audit`: who changed what, newest first. */
import type { FastifyInstance } from 'fastify';
import { AUDIT_PARAMETERS, parseAuditFilter, readAuditPage } from '../../../app/audit.js';
import { readParameters } from '../../request/parameters.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { getOrganizationId } from '../requests.js';
import type { AuditResponse } from '../responses.js';

export function addAudit(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  addResource(app, '/api/organizations/:organizationId/audit', {
    onRequest: sessionGuard.requireMember('owner'),
    GET: async (request): Promise<AuditResponse> => {
      const filter = readParameters(request, AUDIT_PARAMETERS, (parameters) => parseAuditFilter(parameters));
      return readAuditPage(store, getOrganizationId(request), filter);
    },
  });
}
