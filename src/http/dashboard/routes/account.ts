/** The account of the signed-in user: name, password, second factor, sessions. */
import type { FastifyInstance } from 'fastify';
import { formatTime } from '../../../domain/format.js';
import { name, newPassword, readFields, text } from '../../request/fields.js';
import { getParameter } from '../../request/target.js';
import type { SignedIn } from '../authorize.js';
import type { Dashboard } from '../context.js';
import { confirmFactors, confirmUser, keepRequiredFactor, PROOF } from '../reauthentication.js';
import { setCookies } from '../requests.js';
import type { DeviceResponse, TrustedDeviceResponse, TwoFactorSetupResponse } from '../responses.js';

export function addAccount(app: FastifyInstance, dashboard: Dashboard): void {
  const { users, credentials, store, sessionGuard, authProvider } = dashboard;
  sessionGuard.addUserResource(app, '/api/account', {
    PATCH: async ({ auth, user, by }, request) => {
      const { name: newName } = readFields(request, { name });
      await users.rename(auth, newName);
      if (newName === user.name) return;
      const detail = `${user.name}, now ${newName}`;
      await store.directory.logUserChange(user.email, { action: 'user.name', detail }, by);
    },
  });
  sessionGuard.addUserResource(app, '/api/account/password', {
    POST: async (signedIn, request, reply) => {
      const { auth, user, by } = signedIn;
      const { newPassword: next, ...proof } = readFields(request, { ...PROOF, password: text, newPassword });
      // Before the code, which works once.
      await authProvider.requireGoodPassword(next, { owner: user, field: 'newPassword' });
      const passwords = { currentPassword: proof.password, newPassword: next };
      const answered = await confirmFactors(dashboard, signedIn, { request, reply, proof }, () =>
        credentials.changePassword(auth, passwords),
      );
      setCookies(reply, answered);
      const detail = 'changed; all other sessions ended';
      await store.directory.logUserChange(user.email, { action: 'user.password', detail }, by);
    },
  });
}

export function addTwoFactor(app: FastifyInstance, dashboard: Dashboard): void {
  const { credentials, passkeys, store, sessionGuard } = dashboard;
  const log = ({ user, by }: SignedIn, detail: 'on' | 'off') =>
    store.directory.logUserChange(user.email, { action: 'user.second_factor', detail }, by);
  sessionGuard.addUserResource(app, '/api/account/second-factor/start', {
    POST: async (signedIn, request, reply): Promise<TwoFactorSetupResponse> => {
      const proof = readFields(request, PROOF);
      const { uri, backupCodes } = await confirmFactors(dashboard, signedIn, { request, reply, proof }, () =>
        credentials.startSecondFactor(signedIn.auth),
      );
      const secret = new URL(uri).searchParams.get('secret');
      if (secret === null) throw new Error('the URI for the authenticator app has no secret');
      return { uri, secret, backupCodes };
    },
  });
  sessionGuard.addUserResource(app, '/api/account/second-factor/confirm', {
    POST: async (signedIn, request, reply) => {
      const { code } = readFields(request, { code: text });
      setCookies(reply, await credentials.confirmSecondFactor(signedIn.auth, code.trim()));
      await log(signedIn, 'on');
    },
  });
  sessionGuard.addUserResource(app, '/api/account/second-factor/stop', {
    POST: async (signedIn, request, reply) => {
      const proof = readFields(request, PROOF);
      const answered = await confirmFactors(dashboard, signedIn, { request, reply, proof }, async () => {
        await keepRequiredFactor(dashboard, signedIn, (await passkeys.list(signedIn.user)).length);
        return credentials.stopSecondFactor(signedIn.auth);
      });
      setCookies(reply, answered);
      await log(signedIn, 'off');
    },
  });
}

export function addSessions(app: FastifyInstance, dashboard: Dashboard): void {
  const { users, store, sessionGuard, authProvider } = dashboard;
  const log = async ({ user, by }: SignedIn, detail: string) => {
    authProvider.log.count('session_end');
    await store.directory.logUserChange(user.email, { action: 'user.session_end', detail }, by);
  };
  sessionGuard.addUserResource(app, '/api/sessions', {
    GET: async ({ auth, session }): Promise<{ sessions: DeviceResponse[] }> => {
      const sessions = await users.listSessions(auth);
      return {
        sessions: sessions.map(({ id, ...one }) => ({
          id,
          current: id === session.id,
          ...one,
          createdAt: formatTime(one.createdAt),
          expiresAt: formatTime(one.expiresAt),
        })),
      };
    },
  });
  sessionGuard.addUserResource(app, '/api/sessions/:sessionId/end', {
    POST: async (signedIn, request, reply) => {
      await confirmUser(dashboard, signedIn, { request, reply }, () =>
        users.endSession(signedIn.user, getParameter(request, 'sessionId')),
      );
      await log(signedIn, 'one, from another');
    },
  });
  sessionGuard.addUserResource(app, '/api/sessions/end-others', {
    POST: async (signedIn, request, reply) => {
      const ended = await confirmUser(dashboard, signedIn, { request, reply }, () =>
        users.endOtherSessions(signedIn.user, signedIn.session),
      );
      if (ended > 0) await log(signedIn, `all others: ${ended}`);
    },
  });
}

export function addTrustedDevices(app: FastifyInstance, { users, store, sessionGuard }: Dashboard): void {
  sessionGuard.addUserResource(app, '/api/trusted-devices', {
    GET: async ({ user, by }): Promise<{ devices: TrustedDeviceResponse[] }> => {
      const devices = await users.listTrustedDevices(user, by.at);
      return {
        devices: devices.map(({ usedAt, expiresAt, ...one }) => ({
          ...one,
          usedAt: formatTime(usedAt),
          expiresAt: formatTime(expiresAt),
        })),
      };
    },
  });
  sessionGuard.addUserResource(app, '/api/trusted-devices/:deviceId', {
    DELETE: async ({ user, by }, request) => {
      await users.forgetTrustedDevice(user, getParameter(request, 'deviceId'));
      await store.directory.logUserChange(
        user.email,
        { action: 'user.trust', detail: 'ended for a device' },
        by,
      );
    },
  });
}
