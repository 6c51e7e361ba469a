/** An organization itself, and how the signed-in user joins and leaves it. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { organizationToJson } from '../../../app/json.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { formatTime } from '../../../domain/format.js';
import { SECOND_FACTOR_RULES } from '../../../domain/projects/organization.js';
import { oneOf } from '../../../domain/result.js';
import type { NamedInvitation } from '../../../storage/ports/directory.js';
import { name, optional, readFields } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import type { SignedIn } from '../authorize.js';
import type { Dashboard } from '../context.js';
import type { OfferResponse } from '../responses.js';

export function addOrganization(app: FastifyInstance, { users, store, sessionGuard }: Dashboard): void {
  sessionGuard.addMemberResource(app, '', 'owner', {
    PATCH: async ({ organizationId, user, session, by }, request) => {
      const { name: newName, secondFactor } = readFields(request, {
        name: optional(name),
        secondFactor: optional(oneOf(SECOND_FACTOR_RULES)),
      });
      if (secondFactor === 'required' && !(await users.hasSecondFactor(user, session)))
        throw new CallerStatsError('invalid', 'Set up a second factor for yourself first.');
      const change = {
        ...(newName === undefined ? {} : { name: newName }),
        ...(secondFactor === undefined ? {} : { secondFactor }),
      };
      return organizationToJson(await store.directory.changeOrganization(organizationId, change, by));
    },
  });
}

/** Of a user whose address a provider has proved: the links of all others prove it. */
export function addOwnInvitations(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  const find = async ({ user, by }: SignedIn, request: FastifyRequest) => {
    readFields(request, {});
    const id = getParameter(request, 'invitationId');
    const offered = user.isVerified ? await store.directory.listInvitationsFor(user.email, by.at) : [];
    const found = offered.find((one) => one.id === id);
    if (found === undefined)
      throw new CallerStatsError(
        'not_found',
        'There is no such invitation; it was withdrawn or has expired.',
      );
    return found;
  };
  sessionGuard.addUserResource(app, '/api/account/invitations/:invitationId/accept', {
    POST: async (signedIn, request) => {
      const { tokenHash } = await find(signedIn, request);
      await store.directory.acceptOffer(tokenHash, signedIn.user.email, signedIn.by);
    },
  });
  sessionGuard.addUserResource(app, '/api/account/invitations/:invitationId/decline', {
    POST: async (signedIn, request) => {
      const { organizationId, id } = await find(signedIn, request);
      await store.directory.revokeInvitation(organizationId, id, signedIn.by);
    },
  });
}

/** Leaving needs no second factor, also if the organization requires one. */
export function addLeaving(app: FastifyInstance, { store, sessionGuard }: Dashboard): void {
  sessionGuard.addUserResource(app, '/api/account/organizations/:organizationId/leave', {
    POST: async ({ user, by }, request) => {
      const id = getParameter(request, 'organizationId');
      const memberships = await store.directory.listMemberships(user.email);
      if (!memberships.some(({ organizationId }) => organizationId === id))
        throw new CallerStatsError('not_found', 'There is no such organization.');
      readFields(request, {});
      await store.directory.removeMember(id, user.email, by);
    },
  });
}

export function toOffer(invitation: NamedInvitation): OfferResponse {
  const { organizationId, organizationName, role, createdBy, expiresAt } = invitation;
  return {
    organization: { id: organizationId, name: organizationName },
    role,
    invitedBy: createdBy,
    expiresAt: formatTime(expiresAt),
  };
}
