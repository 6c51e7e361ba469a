/** Set-up links, invitations and password resets. Each has a token, which works once. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../../domain/errors.js';
import type { Actor } from '../../../domain/people/audit.js';
import { hashToken, type Invitation, invalidInvitationError } from '../../../domain/people/invitation.js';
import { email, invalid, name, newPassword, optional, readFields, text } from '../../request/fields.js';
import { addResource } from '../../server/resource.js';
import type { Dashboard } from '../context.js';
import { noContent, setCookies, toAuthRequest } from '../requests.js';
import type { InvitationPreviewResponse } from '../responses.js';
import { toOffer } from './organization.js';

export function addSetUp(
  app: FastifyInstance,
  { users, store, clock, sessionGuard, loginThrottle }: Dashboard,
): void {
  addResource(app, '/api/set-up', {
    POST: async (request, reply) => {
      const fields = readFields(request, {
        token: text,
        organization: optional(name),
        name,
        email,
        password: newPassword,
      });
      const tokenHash = hashToken(fields.token);
      const invitation = await store.directory.findInvitation(tokenHash, clock.now());
      if (invitation === undefined || invitation.email !== null || !(await store.directory.isSetUpOpen()))
        throw invalidInvitationError();
      // An interrupted earlier attempt or the command line may have created the account.
      const isKnown = await users.exists(fields.email);
      const { cookies, secondFactor } = isKnown
        ? await signIn(request, fields)
        : { ...(await users.create(toAuthRequest(request), fields)), secondFactor: false };
      await accept(
        { ...fields, tokenHash, isKnown },
        invitation,
        sessionGuard.getActor(request, fields.email),
      );
      setCookies(reply, { cookies });
      const how = isKnown ? 'with a password' : undefined;
      // With a second factor, the person has to sign in, and the browser is trusted only after that.
      if (!secondFactor) await loginThrottle.succeeded(request, reply, { email: fields.email, how });
      return noContent(reply);
    },
  });

  function signIn(request: FastifyRequest, account: { readonly email: string; readonly password: string }) {
    return loginThrottle.attempt(request, account, () =>
      users.signIn(
        toAuthRequest(request),
        account,
        'There is an account with this e-mail address, and it has another password.',
      ),
    );
  }

  async function accept(
    {
      tokenHash,
      email: owner,
      organization,
      isKnown,
    }: {
      readonly tokenHash: string;
      readonly email: string;
      readonly organization: string | undefined;
      readonly isKnown: boolean;
    },
    { organizationId }: Pick<Invitation, 'organizationId'>,
    by: Actor,
  ): Promise<void> {
    try {
      await store.directory.acceptInvitation(tokenHash, owner, by);
      if (organization !== undefined)
        await store.directory.changeOrganization(organizationId, { name: organization }, by);
    } catch (error) {
      // Another request was first. If the address belongs to an owner already, the new account must not remain.
      if (!isKnown && error instanceof CallerStatsError && error.code === 'not_found')
        await users.remove(owner);
      throw error;
    }
  }
}

export function addInvitationLinks(
  app: FastifyInstance,
  { users, store, clock, sessionGuard, loginThrottle }: Dashboard,
): void {
  const find = async (token: string) => {
    const invitation = await store.directory.findInvitation(hashToken(token), clock.now());
    if (invitation === undefined || invitation.email === null) throw invalidInvitationError();
    return { ...invitation, email: invitation.email };
  };
  addResource(app, '/api/invitations/look-up', {
    POST: async (request): Promise<InvitationPreviewResponse> => {
      const invitation = await find(readFields(request, { token: text }).token);
      const hasAccount = await users.exists(invitation.email);
      return { ...toOffer(invitation), email: invitation.email, hasAccount };
    },
  });
  addResource(app, '/api/invitations/accept', {
    POST: async (request, reply) => {
      const fields = readFields(request, {
        token: text,
        name: optional(name),
        password: optional(newPassword),
      });
      const { email: invited, tokenHash } = await find(fields.token);
      const isKnown = await users.exists(invited);
      if (isKnown) await requireSignedInAs(request, reply, invited);
      else await createAccount(request, reply, invited, fields);
      try {
        await store.directory.acceptInvitation(tokenHash, invited, sessionGuard.getActor(request, invited));
      } catch (error) {
        // Revoked meanwhile: a stranger with the link must not keep an account with the address of another person.
        if (!isKnown && error instanceof CallerStatsError && error.code === 'not_found')
          await users.remove(invited);
        throw error;
      }
      return noContent(reply);
    },
  });

  async function requireSignedInAs(request: FastifyRequest, reply: FastifyReply, as: string): Promise<void> {
    const found = await users.findSession(toAuthRequest(request));
    if (found?.user.email !== as)
      throw new CallerStatsError('wrong_credentials', `Sign in as ${as} first, then open the link again.`);
    setCookies(reply, found);
  }

  async function createAccount(
    request: FastifyRequest,
    reply: FastifyReply,
    address: string,
    { name: called, password }: { readonly name: string | undefined; readonly password: string | undefined },
  ): Promise<void> {
    if (called === undefined || password === undefined) {
      const missing = Object.entries({ name: called, password }).filter(([, value]) => value === undefined);
      throw invalid(missing.map(([field]) => `${field}: is missing; a new account needs one`));
    }
    const account = { email: address, name: called, password };
    setCookies(reply, await users.create(toAuthRequest(request), account));
    await loginThrottle.succeeded(request, reply, { email: address, how: undefined });
  }
}

export function addPasswordReset(
  app: FastifyInstance,
  { credentials, store, sessionGuard, loginThrottle, authProvider, resetMails }: Dashboard,
): void {
  addResource(app, '/api/password-reset/mail', {
    POST: async (request, reply) => {
      const fields = readFields(request, { email });
      await resetMails.ask(request, reply, fields.email);
      return noContent(reply);
    },
  });
  addResource(app, '/api/password-reset', {
    POST: async (request, reply) => {
      const { token, password } = readFields(request, { token: text, password: newPassword });
      const address = await credentials.resetPassword({ token, newPassword: password });
      authProvider.log.count('password_reset');
      const detail = 'set with a reset link; all sessions ended';
      const by = sessionGuard.getActor(request, address);
      await store.directory.logUserChange(address, { action: 'user.password', detail }, by);
      // Whoever has the link is the user: failures of this browser, or of strangers, do not keep them out.
      await loginThrottle.trustBrowser(request, reply, address);
      return noContent(reply);
    },
  });
}
