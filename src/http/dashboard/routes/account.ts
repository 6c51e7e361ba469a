/** The signed-in user's own: name, password, second factor, sessions. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addResource } from '../../resource.js';
import { nothing } from '../answers.js';
import { askingOf, setCookies } from '../asking.js';
import type { Dashboard } from '../context.js';
import { name, newPassword, readFields, text } from '../fields.js';
import { toTime } from '../time.js';
import { locked, wrong, wrongCode } from './sign-in.js';

export function addAccount(app: FastifyInstance, dashboard: Dashboard): void {
  addNameAndPassword(app, dashboard);
  addSecondFactor(app, dashboard);
  addSessions(app, dashboard);
}

function addNameAndPassword(
  app: FastifyInstance,
  { users, credentials, store, door, guard }: Dashboard,
): void {
  addResource(app, '/api/account', {
    onRequest: door.requireUser,
    PATCH: {
      schema: { hide: true },
      handler: async (request, reply) => {
        await users.rename(askingOf(request), readFields(request, { name }).name);
        return nothing(reply);
      },
    },
  });
  addResource(app, '/api/account/password', {
    onRequest: door.requireUser,
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const fields = readFields(request, { currentPassword: text, newPassword });
        const { user } = door.userOf(request);
        const answered = await guard.attempt(request, user.email, () =>
          credentials.changePassword(askingOf(request), fields),
        );
        if (answered === 'wrong') throw wrong('The current password is wrong.');
        setCookies(reply, answered);
        await store.people.logUserChange(
          user.email,
          { action: 'user.password', detail: 'changed; all other sessions ended' },
          door.actorOf(request),
        );
        return nothing(reply);
      },
    },
  });
}

function addSecondFactor(app: FastifyInstance, { credentials, store, door, guard }: Dashboard): void {
  const log = (request: FastifyRequest, detail: string) =>
    store.people.logUserChange(
      door.userOf(request).user.email,
      { action: 'user.second_factor', detail },
      door.actorOf(request),
    );
  const withPassword = async <T>(
    request: FastifyRequest,
    work: (password: string) => Promise<T | 'wrong'>,
  ) => {
    const { password } = readFields(request, { password: text });
    const { user } = door.userOf(request);
    const result = await guard.attempt(request, user.email, () => work(password));
    if (result === 'wrong') throw wrong('The password is wrong.');
    return result;
  };
  addResource(app, '/api/account/second-factor/start', {
    onRequest: door.requireUser,
    POST: {
      schema: { hide: true },
      handler: async (request) => {
        const { uri, backupCodes } = await withPassword(request, (password) =>
          credentials.startSecondFactor(askingOf(request), password),
        );
        return { uri, secret: new URL(uri).searchParams.get('secret'), backupCodes };
      },
    },
  });
  addResource(app, '/api/account/second-factor/confirm', {
    onRequest: door.requireUser,
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const { code } = readFields(request, { code: text });
        const answered = await credentials.confirmSecondFactor(askingOf(request), code.trim());
        if (answered === 'wrong') throw wrongCode();
        if (answered === 'locked') throw locked();
        setCookies(reply, answered);
        await log(request, 'on');
        return nothing(reply);
      },
    },
  });
  addResource(app, '/api/account/second-factor/stop', {
    onRequest: door.requireUser,
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const answered = await withPassword(request, (password) =>
          credentials.stopSecondFactor(askingOf(request), password),
        );
        setCookies(reply, answered);
        await log(request, 'off');
        return nothing(reply);
      },
    },
  });
}

function addSessions(app: FastifyInstance, { users, door }: Dashboard): void {
  addResource(app, '/api/sessions', {
    onRequest: door.requireUser,
    GET: {
      schema: { hide: true },
      handler: async (request) => {
        const current = door.userOf(request).session.id;
        const sessions = await users.listSessions(askingOf(request));
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
    },
  });
  addResource(app, '/api/sessions/:sessionId', {
    onRequest: door.requireUser,
    DELETE: {
      schema: { hide: true },
      handler: async (request, reply) => {
        const { sessionId } = request.params as { sessionId: string };
        await users.endSession(askingOf(request), sessionId);
        return nothing(reply);
      },
    },
  });
  addResource(app, '/api/sessions/end-others', {
    onRequest: door.requireUser,
    POST: {
      schema: { hide: true },
      handler: async (request, reply) => {
        readFields(request, {});
        await users.endOtherSessions(askingOf(request));
        return nothing(reply);
      },
    },
  });
}
