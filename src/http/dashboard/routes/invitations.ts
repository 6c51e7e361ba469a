/** Coming in for the first time, or again: set-up addresses, invitations, new passwords. Each is a token, used once. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../../domain/errors.js';
import { hashToken, invalidInvitationError } from '../../../domain/people/invitation.js';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { email, invalid, name, newPassword, optional, readFields, text } from '../fields.js';
import { noContent, setCookies, toAuthRequest, toTime } from '../requests.js';
import type { InvitationPreviewResponse } from '../responses.js';

export function addJoining(app: FastifyInstance, dashboard: Dashboard): void {
  addSetUp(app, dashboard);
  addInvitation(app, dashboard);
  addPasswordReset(app, dashboard);
}

function addSetUp(app: FastifyInstance, dashboard: Dashboard): void {
  const { users, store, clock, sessionGuard, loginThrottle } = dashboard;
  addResource(app, '/api/set-up', {
    POST: async (request, reply) => {
      const fields = readFields(request, { token: text, name, email, password: newPassword });
      const tokenHash = hashToken(fields.token);
      const invitation = await store.findInvitation(tokenHash, clock.now());
      if (invitation === undefined || invitation.email !== null || !(await store.isSetUpOpen()))
        throw invalidInvitationError();
      // Made by an earlier try that was cut off, or by the command line.
      const isKnown = await users.exists(fields.email);
      const answered = isKnown
        ? await loginThrottle.attempt(request, fields.email, () =>
            users.signIn(
              toAuthRequest(request),
              fields,
              'There is an account with this e-mail address, and it has another password.',
            ),
          )
        : await users.create(toAuthRequest(request), fields);
      const by = sessionGuard.getActorNamed(request, fields.email);
      try {
        await store.acceptInvitation(tokenHash, fields.email, by);
      } catch (error) {
        // Somebody else was first. The address may be an owner's already, who would get in by the new account.
        if (!isKnown && error instanceof CallerStatsError && error.code === 'not_found')
          await users.remove(fields.email);
        throw error;
      }
      setCookies(reply, answered);
      await loginThrottle.succeeded(request, reply, fields.email);
      return noContent(reply);
    },
  });
}

function addInvitation(
  app: FastifyInstance,
  { users, store, clock, sessionGuard, loginThrottle }: Dashboard,
): void {
  const find = async (token: string) => {
    const invitation = await store.findInvitation(hashToken(token), clock.now());
    if (invitation === undefined || invitation.email === null) throw invalidInvitationError();
    return { ...invitation, email: invitation.email };
  };
  addResource(app, '/api/invitations/look-up', {
    POST: async (request): Promise<InvitationPreviewResponse> => {
      const invitation = await find(readFields(request, { token: text }).token);
      return {
        organization: { id: invitation.organizationId, name: invitation.organizationName },
        email: invitation.email,
        role: invitation.role,
        invitedBy: invitation.createdBy,
        expiresAt: toTime(invitation.expiresAt),
        hasAccount: await users.exists(invitation.email),
      };
    },
  });
  addResource(app, '/api/invitations/accept', {
    POST: async (request, reply) => {
      const fields = readFields(request, {
        token: text,
        name: optional(name),
        password: optional(newPassword),
      });
      const invitation = await find(fields.token);
      if (await users.exists(invitation.email)) await requireSignedInAs(request, reply, invitation.email);
      else await makeAccount(request, reply, { ...fields, email: invitation.email });
      const by = sessionGuard.getActorNamed(request, invitation.email);
      await store.acceptInvitation(invitation.tokenHash, invitation.email, by);
      return noContent(reply);
    },
  });

  async function requireSignedInAs(request: FastifyRequest, reply: FastifyReply, as: string): Promise<void> {
    const found = await users.findSession(toAuthRequest(request));
    if (found?.user.email !== as)
      throw new CallerStatsError('wrong_credentials', `Sign in as ${as} first, then open the link again.`);
    setCookies(reply, found);
  }

  async function makeAccount(
    request: FastifyRequest,
    reply: FastifyReply,
    account: {
      readonly email: string;
      readonly name: string | undefined;
      readonly password: string | undefined;
    },
  ): Promise<void> {
    const { name: called, password } = account;
    if (called === undefined || password === undefined) {
      const missing = { name: called, password };
      throw invalid(
        Object.entries(missing)
          .filter(([, value]) => value === undefined)
          .map(([field]) => `${field}: is missing; a new account needs one`),
      );
    }
    setCookies(
      reply,
      await users.create(toAuthRequest(request), { email: account.email, name: called, password }),
    );
    await loginThrottle.succeeded(request, reply, account.email);
  }
}

function addPasswordReset(app: FastifyInstance, { credentials }: Dashboard): void {
  addResource(app, '/api/password-reset', {
    POST: async (request, reply) => {
      const { token, password } = readFields(request, { token: text, password: newPassword });
      await credentials.resetPassword({ token, newPassword: password });
      return noContent(reply);
    },
  });
}
