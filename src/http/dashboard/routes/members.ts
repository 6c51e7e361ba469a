/** The members and invitations of an organization. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invitationToJson, memberToJson } from '../../../app/json.js';
import { inviteMember } from '../../../app/members.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { email, readFields, role } from '../fields.js';
import { created, getOrganizationId, noContent } from '../requests.js';
import type { MemberResponse } from '../responses.js';

const ORGANIZATION = '/api/organizations/:organizationId';

export function addMembers(app: FastifyInstance, dashboard: Dashboard): void {
  addMemberRoutes(app, dashboard);
  addInvitationRoutes(app, dashboard);
}

function addMemberRoutes(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  addResource(app, `${ORGANIZATION}/members`, {
    onRequest: sessionGuard.requireMember('owner'),
    GET: async (request): Promise<{ members: MemberResponse[] }> => {
      const members = await store.listMembers(getOrganizationId(request));
      const names = await store.findUserNames(members.map((one) => one.email));
      const you = sessionGuard.getUser(request).user.email;
      return {
        members: members.map((one) => ({
          ...memberToJson(one),
          name: names.get(one.email) ?? null,
          you: one.email === you,
        })),
      };
    },
  });
  addResource(app, `${ORGANIZATION}/members/:email`, {
    onRequest: sessionGuard.requireMember('owner'),
    PATCH: async (request) => {
      const fields = readFields(request, { role });
      const member = getMember(request);
      const by = sessionGuard.getActor(request);
      await store.changeMember(getOrganizationId(request), member, fields.role, by);
      return { email: member, role: fields.role };
    },
    DELETE: async (request, reply) => {
      const by = sessionGuard.getActor(request);
      await store.removeMember(getOrganizationId(request), getMember(request), by);
      return noContent(reply);
    },
  });
}

function addInvitationRoutes(
  app: FastifyInstance,
  { store, clock, sessionGuard, randomInt }: Dashboard,
): void {
  addResource(app, `${ORGANIZATION}/invitations`, {
    onRequest: sessionGuard.requireMember('owner'),
    GET: async (request) => {
      const invitations = await store.listInvitations(getOrganizationId(request), clock.now());
      return { invitations: invitations.map(invitationToJson) };
    },
    POST: async (request, reply) => {
      const fields = readFields(request, { email, role });
      const by = sessionGuard.getActor(request);
      const wanted = { ...fields, organizationId: getOrganizationId(request) };
      const { invitation, token } = await inviteMember({ store, randomInt }, wanted, by);
      return created(reply, { invitation: invitationToJson(invitation), token });
    },
  });
  addResource(app, `${ORGANIZATION}/invitations/:invitationId`, {
    onRequest: sessionGuard.requireMember('owner'),
    DELETE: async (request, reply) => {
      const { invitationId } = request.params as { invitationId: string };
      await store.revokeInvitation(getOrganizationId(request), invitationId, sessionGuard.getActor(request));
      return noContent(reply);
    },
  });
}

function getMember(request: FastifyRequest): string {
  return (request.params as { email: string }).email.toLowerCase();
}
