/** The signed-in user's own: name, password, second factor, sessions. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addResource } from '../../resource.js';
import type { Dashboard } from '../context.js';
import { name, newPassword, readFields, text } from '../fields.js';
import { noContent, setCookies, toAuthRequest, toTime } from '../requests.js';
import type { DeviceResponse, TwoFactorSetupResponse } from '../responses.js';

export function addAccount(app: FastifyInstance, dashboard: Dashboard): void {
  addNameAndPassword(app, dashboard);
  addSecondFactor(app, dashboard);
  addSessions(app, dashboard);
}

function addNameAndPassword(
  app: FastifyInstance,
  { users, credentials, store, sessionGuard, loginThrottle }: Dashboard,
): void {
  addResource(app, '/api/account', {
    onRequest: sessionGuard.requireUser,
    PATCH: async (request, reply) => {
      await users.rename(toAuthRequest(request), readFields(request, { name }).name);
      return noContent(reply);
    },
  });
  addResource(app, '/api/account/password', {
    onRequest: sessionGuard.requireUser,
    POST: async (request, reply) => {
      const fields = readFields(request, { currentPassword: text, newPassword });
      const { user } = sessionGuard.getUser(request);
      const answered = await loginThrottle.attempt(request, user.email, () =>
        credentials.changePassword(toAuthRequest(request), fields),
      );
      setCookies(reply, answered);
      await store.logUserChange(
        user.email,
        { action: 'user.password', detail: 'changed; all other sessions ended' },
        sessionGuard.getActor(request),
      );
      return noContent(reply);
    },
  });
}

function addSecondFactor(
  app: FastifyInstance,
  { credentials, store, sessionGuard, loginThrottle }: Dashboard,
): void {
  const log = (request: FastifyRequest, detail: string) =>
    store.logUserChange(
      sessionGuard.getUser(request).user.email,
      { action: 'user.second_factor', detail },
      sessionGuard.getActor(request),
    );
  const withPassword = <T>(request: FastifyRequest, work: (password: string) => Promise<T>) => {
    const { password } = readFields(request, { password: text });
    return loginThrottle.attempt(request, sessionGuard.getUser(request).user.email, () => work(password));
  };
  addResource(app, '/api/account/second-factor/start', {
    onRequest: sessionGuard.requireUser,
    POST: async (request): Promise<TwoFactorSetupResponse> => {
      const { uri, backupCodes } = await withPassword(request, (password) =>
        credentials.startSecondFactor(toAuthRequest(request), password),
      );
      const secret = new URL(uri).searchParams.get('secret');
      if (secret === null) throw new Error('the URI for the authenticator app has no secret');
      return { uri, secret, backupCodes };
    },
  });
  addResource(app, '/api/account/second-factor/confirm', {
    onRequest: sessionGuard.requireUser,
    POST: async (request, reply) => {
      const { code } = readFields(request, { code: text });
      const answered = await credentials.confirmSecondFactor(toAuthRequest(request), code.trim());
      setCookies(reply, answered);
      await log(request, 'on');
      return noContent(reply);
    },
  });
  addResource(app, '/api/account/second-factor/stop', {
    onRequest: sessionGuard.requireUser,
    POST: async (request, reply) => {
      const answered = await withPassword(request, (password) =>
        credentials.stopSecondFactor(toAuthRequest(request), password),
      );
      setCookies(reply, answered);
      await log(request, 'off');
      return noContent(reply);
    },
  });
}

function addSessions(app: FastifyInstance, { users, sessionGuard }: Dashboard): void {
  addResource(app, '/api/sessions', {
    onRequest: sessionGuard.requireUser,
    GET: async (request): Promise<{ sessions: DeviceResponse[] }> => {
      const current = sessionGuard.getUser(request).session.id;
      const sessions = await users.listSessions(toAuthRequest(request));
      return {
        sessions: sessions.map(({ id, address, userAgent, createdAt, expiresAt }) => ({
          id,
          current: id === current,
          address,
          userAgent,
          createdAt: toTime(createdAt),
          expiresAt: toTime(expiresAt),
        })),
      };
    },
  });
  addResource(app, '/api/sessions/:sessionId', {
    onRequest: sessionGuard.requireUser,
    DELETE: async (request, reply) => {
      const { sessionId } = request.params as { sessionId: string };
      await users.endSession(toAuthRequest(request), sessionId);
      return noContent(reply);
    },
  });
  addResource(app, '/api/sessions/end-others', {
    onRequest: sessionGuard.requireUser,
    POST: async (request, reply) => {
      readFields(request, {});
      await users.endOtherSessions(toAuthRequest(request));
      return noContent(reply);
    },
  });
}
