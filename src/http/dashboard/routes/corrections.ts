/** Corrections of a project: the same requests and responses as those of the public API, for members with a session. */
import type { FastifyInstance } from 'fastify';
import { createCorrectionHandlers } from '../../routes/corrections.js';
import type { Dashboard } from '../context.js';
import { getProject } from '../requests.js';

export function addMemberCorrections(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, sessionGuard } = dashboard;
  const handlers = createCorrectionHandlers(dashboard);
  sessionGuard.addMemberResource(app, '/projects/:projectId/corrections', ['reader', 'editor'], {
    GET: async (_member, request, reply) => {
      request.project = await getProject(store, request);
      return handlers.list(request, reply);
    },
    POST: async ({ by }, request, reply) => {
      request.project = await getProject(store, request);
      return handlers.correct(request, reply, by.name);
    },
  });
}
