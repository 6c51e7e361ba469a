import type { getSessionFromCtx } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import type { LibraryContext } from './library-context.js';
import { forgetTrustedDevices } from './trusted-devices.js';

type Found = NonNullable<Awaited<ReturnType<typeof getSessionFromCtx>>>;

/**
 * After a new second factor: gives the session another token, and ends the sessions of the user that began without the factor,
 * and the trust in devices.
 */
export async function replaceSessions(context: LibraryContext, { session, user }: Found): Promise<void> {
  const { adapter, internalAdapter } = context.context;
  const renewed = await internalAdapter.createSession(user.id, false, session);
  await setSessionCookie(context, { session: renewed, user });
  await forgetTrustedDevices(adapter, user.id);
  const ofOthers = { field: 'token', operator: 'ne' as const, value: renewed.token };
  await adapter.deleteMany({ model: 'session', where: [{ field: 'userId', value: user.id }, ofOthers] });
}
