/** The people of an organization, and those who are invited. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { inviteMember } from '../../../app/members.js';
import type { Invitation } from '../../../domain/people/invitation.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { email, readFields, role } from '../fields.js';
import { created, getOrganizationId, noContent, toTime } from '../requests.js';
import type { InvitationResponse, MemberResponse } from '../responses.js';

const ORGANIZATION = '/api/organizations/:organizationId';

export function addMembers(app: FastifyInstance, dashboard: Dashboard): void {
  addMemberRoutes(app, dashboard);
  addInvitationRoutes(app, dashboard);
}

function addMemberRoutes(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  addResource(app, `${ORGANIZATION}/members`, {
    onRequest: sessionGuard.requireMember('owner'),
    GET: {
      schema: { hide: true },
      handler: async (request): Promise<{ members: MemberResponse[] }> => {
        const members = await store.listMembers(getOrganizationId(request));
        const names = await store.findUserNames(members.map((one) => one.email));
        const you = sessionGuard.getUser(request).user.email;
        return {
          members: members.map((one) => ({
            email: one.email,
            role: one.role,
            createdAt: toTime(one.createdAt),
            name: names.get(one.email) ?? null,
            you: one.email === you,
          })),
        };
      },
    },
  });
  addResource(app, `${ORGANIZATION}/members/:email`, {
    onRequest: sessionGuard.requireMember('owner'),
    PATCH: {
      schema: { hide: true },
      handler: async (request) => {
        const fields = readFields(request, { role });
        const of = getMember(request);
        await store.changeMember(getOrganizationId(request), of, fields.role, sessionGuard.getActor(request));
        return { email: of, role: fields.role };
      },
    },
    DELETE: {
      schema: { hide: true },
      handler: async (request, reply) => {
        await store.removeMember(
          getOrganizationId(request),
          getMember(request),
          sessionGuard.getActor(request),
        );
        return noContent(reply);
      },
    },
  });
}

function addInvitationRoutes(
  app: FastifyInstance,
  { store, clock, sessionGuard, randomInt }: Dashboard,
): void {
  addResource(app, `${ORGANIZATION}/invitations`, {
    onRequest: sessionGuard.requireMember('owner'),
    GET: {
      schema: { hide: true },
      handler: async (request) => {
        const invitations = await store.listInvitations(getOrganizationId(request), clock.now());
        return { invitations: invitations.map(toListed) };
      },
    },
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const fields = readFields(request, { email, role });
        const by = sessionGuard.getActor(request);
        const wanted = { ...fields, organizationId: getOrganizationId(request) };
        const { invitation, token } = await inviteMember({ store, randomInt }, wanted, by);
        return created(reply, { invitation: toListed(invitation), token });
      },
    },
  });
  addResource(app, `${ORGANIZATION}/invitations/:invitationId`, {
    onRequest: sessionGuard.requireMember('owner'),
    DELETE: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const { invitationId } = request.params as { invitationId: string };
        await store.revokeInvitation(
          getOrganizationId(request),
          invitationId,
          sessionGuard.getActor(request),
        );
        return noContent(reply);
      },
    },
  });
}

function getMember(request: FastifyRequest): string {
  const { email: of } = request.params as { email: string };
  return of.toLowerCase();
}

function toListed({
  id,
  email: of,
  role: as,
  createdBy,
  createdAt,
  expiresAt,
}: Invitation): InvitationResponse {
  return { id, email: of, role: as, createdBy, createdAt: toTime(createdAt), expiresAt: toTime(expiresAt) };
}
