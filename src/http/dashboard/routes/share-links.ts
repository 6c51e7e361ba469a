/** The share links of a project, for its members. */
import type { FastifyInstance } from 'fastify';
import { shareLinkToJson } from '../../../app/json.js';
import { createShareLink, type ShareLinkIssuing } from '../../../app/share-links.js';
import { newPassword, optional, readFields, text, texts } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import type { Dashboard } from '../context.js';
import { created, getExistingId, getProject } from '../requests.js';
import type { CreatedShareLinkResponse, ShareLinksResponse } from '../responses.js';

export function addShareLinks(app: FastifyInstance, dashboard: Dashboard): void {
  const { store, clock, sessionGuard, authProvider } = dashboard;
  const hashPassword: ShareLinkIssuing['hashPassword'] = async (password, { projectName, by }) => {
    const owner = { email: '', name: projectName };
    await authProvider.requireGoodPassword(password, { owner, field: 'password' });
    const hash = () => authProvider.passwords.hash(password);
    return authProvider.passwords.inLane('known', hash, by.name);
  };
  sessionGuard.addMemberResource(app, '/projects/:projectId/share-links', 'editor', {
    GET: async ({ organizationId }, request): Promise<ShareLinksResponse> => {
      const project = await getProject(store, request);
      const links = await store.directory.listShareLinks(organizationId, project.id);
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
      store.directory.revokeShareLink(organizationId, getParameter(request, 'shareLinkId'), by),
  });
}
