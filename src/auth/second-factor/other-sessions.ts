import type { BetterAuthPlugin } from 'better-auth';
import { createAuthEndpoint, getSessionFromCtx } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { bodyOf, type LibraryContext } from './library-context.js';
import { forgetTrustedDevices } from './trusted-devices.js';

type Found = NonNullable<Awaited<ReturnType<typeof getSessionFromCtx>>>;

/**
 * After a new second factor: gives the session another token, and ends the sessions of the user that began without the factor,
 * and the trust in devices.
 */
export async function replaceSessions(context: LibraryContext, { session, user }: Found): Promise<void> {
  const { adapter } = context.context;
  const renewed = await copySession(context, { session, user });
  await forgetTrustedDevices(adapter, user.id);
  const ofOthers = { field: 'token', operator: 'ne' as const, value: renewed.token };
  await adapter.deleteMany({ model: 'session', where: [{ field: 'userId', value: user.id }, ofOthers] });
}

/** Gives the session another token after its user typed the password again (OWASP ASVS 5.0, 7.2.4). */
export function sessionRenewal() {
  return {
    id: 'session-renewal',
    endpoints: {
      renewSession: createAuthEndpoint.serverOnly(bodyOf<object>(), async (context) => {
        const found = await getSessionFromCtx(context);
        // What the password was for may have ended or replaced the session.
        if (found === null) return context.json({ ok: false });
        await copySession(context, found);
        const { id, userId } = found.session;
        const where = [
          { field: 'userId', value: userId },
          { field: 'id', value: id },
        ];
        await context.context.adapter.deleteMany({ model: 'session', where });
        return context.json({ ok: true });
      }),
    },
  } satisfies BetterAuthPlugin;
}

async function copySession(context: LibraryContext, { session, user }: Found) {
  const copy = await context.context.internalAdapter.createSession(user.id, false, session);
  await setSessionCookie(context, { session: copy, user });
  return copy;
}
