/** The members and invitations of an organization. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invitationToJson, keyToJson, memberToJson } from '../../../app/json.js';
import { dismissMember, endMemberSessions, inviteMember } from '../../../app/members.js';
import type { Actor } from '../../../domain/people/audit.js';
import { parseRights, type Rights, type Role } from '../../../domain/people/member.js';
import { prefixProblems } from '../../../domain/result.js';
import { email, invalid, optional, readFields, role, texts } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import type { Dashboard } from '../context.js';
import { created } from '../requests.js';
import type { DismissalResponse, EndedSessionsResponse, MemberResponse } from '../responses.js';

export function addMembers(
  app: FastifyInstance,
  { store, users, sessionGuard, authProvider }: Dashboard,
): void {
  sessionGuard.addMemberResource(app, '/members', 'owner', {
    GET: async ({ organizationId, user, rights }): Promise<{ members: MemberResponse[] }> => {
      const members = await store.directory.listMembers(organizationId);
      const found = await store.directory.findUsers(
        members.map((one) => one.email),
        organizationId,
      );
      return {
        members: members.map((one) => ({
          ...memberToJson(one),
          name: found.get(one.email)?.name ?? null,
          // What would help somebody who attacks members is for owners only.
          secondFactor: rights.role === 'owner' ? found.get(one.email)?.secondFactor === true : null,
          you: one.email === user.email,
        })),
      };
    },
  });
  sessionGuard.addMemberResource(app, '/members/:email', 'owner', {
    PATCH: async ({ organizationId, by }, request) => {
      const rights = readRights(readFields(request, RIGHTS));
      return dismiss({ organizationId, email: getMember(request), rights }, by);
    },
    DELETE: ({ organizationId, by }, request) =>
      dismiss({ organizationId, email: getMember(request), rights: null }, by),
  });
  sessionGuard.addMemberResource(app, '/members/:email/end-sessions', 'owner', {
    POST: async ({ organizationId, by }, request): Promise<EndedSessionsResponse> => {
      readFields(request, {});
      const ended = await endMemberSessions(
        { store, users },
        { organizationId, email: getMember(request), isOperator: false },
        by,
      );
      authProvider.log.count('session_end');
      return { ended };
    },
  });

  async function dismiss(
    change: Omit<Parameters<typeof dismissMember>[1], 'revokeKeys'>,
    by: Actor,
  ): Promise<DismissalResponse> {
    const keys = await dismissMember(store, { ...change, revokeKeys: false }, by);
    return { keys: keys.map((key) => keyToJson(key, by.at)) };
  }
}

export function addInvitations(
  app: FastifyInstance,
  { store, clock, sessionGuard, randomInt }: Dashboard,
): void {
  sessionGuard.addMemberResource(app, '/invitations', 'owner', {
    GET: async ({ organizationId }) => {
      const invitations = await store.directory.listInvitations(organizationId, clock.now());
      return { invitations: invitations.map(invitationToJson) };
    },
    POST: async ({ organizationId, by }, request, reply) => {
      const { email: invited, ...given } = readFields(request, { email, ...RIGHTS });
      const wanted = { organizationId, email: invited, ...readRights(given) };
      const { invitation, token } = await inviteMember({ store, randomInt }, wanted, by);
      return created(reply, { invitation: invitationToJson(invitation), token });
    },
  });
  sessionGuard.addMemberResource(app, '/invitations/:invitationId', 'owner', {
    DELETE: ({ organizationId, by }, request) =>
      store.directory.revokeInvitation(organizationId, getParameter(request, 'invitationId'), by),
  });
}

const RIGHTS = { role, projects: optional(texts) };

function readRights(given: {
  readonly role: Role;
  readonly projects: readonly string[] | undefined;
}): Rights {
  const rights = prefixProblems('projects', parseRights(given.role, given.projects));
  if (!rights.ok) throw invalid(rights.problems);
  return rights.value;
}

function getMember(request: FastifyRequest): string {
  return getParameter(request, 'email').toLowerCase();
}
