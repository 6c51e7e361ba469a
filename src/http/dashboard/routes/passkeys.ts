/** Passkeys: those of the signed-in user, and signing in with one, alone or as the second factor. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthResponse } from '../../../auth/auth-provider.js';
import type { Assertion, Registration } from '../../../auth/passkeys/ceremonies.js';
import { findRelyingParty, type RelyingParty } from '../../../auth/passkeys/relying-party.js';
import { formatTime } from '../../../domain/format.js';
import { credentialJson, flag, name, optional, readFields } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import { addResource } from '../../server/resource.js';
import type { SignedIn } from '../authorize.js';
import type { Dashboard } from '../context.js';
import { confirmFactors, keepRequiredFactor, PROOF } from '../reauthentication.js';
import { noContent, originOf, requireRelyingParty, setCookies, toAuthRequest } from '../requests.js';
import type { PasskeyResponse, SecondStepResponse } from '../responses.js';
import { recordTrust } from './sign-in.js';

export function addPasskeys(app: FastifyInstance, dashboard: Dashboard): void {
  const { passkeys, store, sessionGuard, authProvider } = dashboard;
  const log = ({ user, by }: SignedIn, detail: string) =>
    store.directory.logUserChange(user.email, { action: 'user.passkey', detail }, by);
  sessionGuard.addUserResource(app, '/api/account/passkeys', {
    GET: async ({ user }): Promise<{ passkeys: PasskeyResponse[] }> => {
      const found = await passkeys.list(user);
      return {
        passkeys: found.map(({ createdAt, lastUsedAt, ...one }) => ({
          ...one,
          createdAt: formatTime(createdAt),
          lastUsedAt: lastUsedAt === null ? null : formatTime(lastUsedAt),
        })),
      };
    },
    POST: async (signedIn, request, reply) => {
      const fields = readFields(request, { name, response: credentialJson<Registration['response']> });
      const relyingParty = requireRelyingParty(dashboard, request);
      setCookies(reply, await passkeys.add(signedIn.auth, { ...fields, relyingParty }));
      authProvider.log.count('passkey_add');
      await log(signedIn, `added: ${fields.name}; all other sessions ended`);
    },
  });
  sessionGuard.addUserResource(app, '/api/account/passkeys/start', {
    POST: async (signedIn, request, reply) => {
      const relyingParty = requireRelyingParty(dashboard, request);
      const proof = readFields(request, PROOF);
      const started = await confirmFactors(dashboard, signedIn, { request, reply, proof }, () =>
        passkeys.startAdding(signedIn.auth, relyingParty),
      );
      setCookies(reply, started);
      return started.response;
    },
  });
  sessionGuard.addUserResource(app, '/api/account/passkeys/challenge', {
    POST: async ({ auth }, request, reply) => {
      readFields(request, {});
      const started = await passkeys.startChecking(auth, requireRelyingParty(dashboard, request));
      setCookies(reply, started);
      return started.response;
    },
  });
  sessionGuard.addUserResource(app, '/api/account/passkeys/:passkeyId', {
    PATCH: async (signedIn, request) => {
      const fields = readFields(request, { name });
      await passkeys.rename(signedIn.user, { id: getParameter(request, 'passkeyId'), ...fields });
      await log(signedIn, `renamed: ${fields.name}`);
    },
  });
  sessionGuard.addUserResource(app, '/api/account/passkeys/:passkeyId/remove', {
    POST: async (signedIn, request, reply) => {
      const { user } = signedIn;
      const proof = readFields(request, PROOF);
      const { name } = await confirmFactors(dashboard, signedIn, { request, reply, proof }, async () => {
        const others = (await passkeys.list(user)).length - 1;
        await keepRequiredFactor(dashboard, signedIn, others + (user.codes ? 1 : 0));
        return passkeys.remove(signedIn, getParameter(request, 'passkeyId'));
      });
      authProvider.log.count('passkey_remove');
      await log(signedIn, `removed: ${name}; all other sessions ended`);
    },
  });
}

export function addPasskeySignIn(app: FastifyInstance, dashboard: Dashboard): void {
  const { passkeys, loginThrottle, authProvider } = dashboard;

  /** Runs the check of a passkey within the limits of its user, and records what it did. */
  async function signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      response,
      step,
      check,
    }: {
      readonly response: Assertion['response'];
      readonly step: 'first' | 'second';
      readonly check: (
        relyingParty: RelyingParty,
      ) => Promise<AuthResponse & { readonly email: string; readonly passkey: string }>;
    },
  ): Promise<string> {
    const relyingParty = requireRelyingParty(dashboard, request);
    const owner = await passkeys.findOwner(response.id);
    const answered = await loginThrottle.attempt(request, { email: owner, what: 'passkeys' }, () =>
      check(relyingParty),
    );
    setCookies(reply, answered);
    const { email, passkey } = answered;
    const how = `with the passkey ${passkey}${step === 'second' ? ' as the second factor' : ''}`;
    await loginThrottle.succeeded(request, reply, { email, how });
    authProvider.log.count('passkey_use');
    return email;
  }

  addResource(app, '/api/sign-in/passkey/start', {
    POST: async (request, reply) => {
      readFields(request, {});
      const relyingParty = requireRelyingParty(dashboard, request);
      const started = await passkeys.startSignIn(toAuthRequest(request), relyingParty);
      setCookies(reply, started);
      return started.response;
    },
  });
  addResource(app, '/api/sign-in/passkey', {
    POST: async (request, reply) => {
      const { response } = readFields(request, { response: credentialJson<Assertion['response']> });
      const check = (relyingParty: RelyingParty) =>
        passkeys.signIn(toAuthRequest(request), { response, relyingParty });
      await signIn(request, reply, { response, step: 'first', check });
      return noContent(reply);
    },
  });
  addResource(app, '/api/sign-in/second-factor/start', {
    POST: async (request, reply): Promise<SecondStepResponse> => {
      readFields(request, {});
      const relyingParty = findRelyingParty(authProvider.publicUrl, originOf(request));
      const started = await passkeys.startSecondFactor(
        toAuthRequest(request),
        'problem' in relyingParty ? undefined : relyingParty,
      );
      setCookies(reply, started);
      return started.response;
    },
  });
  addResource(app, '/api/sign-in/second-factor/passkey', {
    POST: async (request, reply) => {
      const { response, trustDevice = false } = readFields(request, {
        response: credentialJson<Assertion['response']>,
        trustDevice: optional(flag),
      });
      const check = (relyingParty: RelyingParty) =>
        passkeys.verifySecondFactor(toAuthRequest(request), { response, relyingParty, trustDevice });
      const email = await signIn(request, reply, { response, step: 'second', check });
      if (trustDevice) await recordTrust(dashboard, request, email);
      return noContent(reply);
    },
  });
}
