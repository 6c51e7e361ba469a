import type { DBAdapter } from 'better-auth';
import { forgetTrustedDevices } from './trusted-devices.js';

/** After a new second factor: ends the sessions of the user that began without it, and the trust in devices. */
export async function endOtherSessions(
  adapter: Pick<DBAdapter, 'deleteMany'>,
  userId: string,
  /** The token of the session that stays. */
  token: string,
): Promise<void> {
  await forgetTrustedDevices(adapter, userId);
  const ofOthers = { field: 'token', operator: 'ne' as const, value: token };
  await adapter.deleteMany({ model: 'session', where: [{ field: 'userId', value: userId }, ofOthers] });
}
