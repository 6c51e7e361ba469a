/** The share links of a project, for its members. */
import type { FastifyInstance } from 'fastify';
import { shareLinkToJson } from '../../../app/json.js';
import { createShareLink } from '../../../app/share-links.js';
import { requireGoodPassword } from '../../../auth/passwords/password-rules.js';
import { noSuchProject } from '../../errors.js';
import { newPassword, optional, readFields, text, texts } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import type { Dashboard } from '../context.js';
import { created } from '../requests.js';
import type { CreatedShareLinkResponse, ShareLinksResponse } from '../responses.js';
import { getExistingId } from './projects.js';

export function addShareLinks(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, clock, sessionGuard, authProvider } = dashboard;
  const hashPassword = async (password: string, projectName: string): Promise<string> => {
    await requireGoodPassword(password, { email: '', name: projectName }, 'password');
    return authProvider.passwords.hash(password);
  };
  sessionGuard.addMemberResource(app, '/projects/:projectId/share-links', 'editor', {
    GET: async ({ organizationId }, request): Promise<ShareLinksResponse> => {
      const project = await store.findProject(organizationId, getExistingId(request));
      if (project === undefined) throw noSuchProject();
      const links = await store.listShareLinks(organizationId, project.id);
      return { links: links.map((link) => shareLinkToJson(link, clock.now())) };
    },
    POST: async ({ organizationId, by }, request, reply): Promise<CreatedShareLinkResponse> => {
      const fields = readFields(request, {
        name: text,
        expires: optional(text),
        password: optional(newPassword),
        origins: optional(texts),
      });
      const target = { organizationId, id: getExistingId(request) };
      const { link, token } = await createShareLink({ ...dashboard, hashPassword }, target, fields, by);
      return created(reply, { link: shareLinkToJson(link, by.at), token });
    },
  });
  sessionGuard.addMemberResource(app, '/share-links/:shareLinkId', 'editor', {
    DELETE: ({ organizationId, by }, request) =>
      store.revokeShareLink(organizationId, getParameter(request, 'shareLinkId'), by),
  });
}
