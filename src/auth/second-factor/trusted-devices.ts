/** Devices that need no second factor for a while. The library keeps each as a verification value of the user. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DBAdapter, Where } from 'better-auth';
import type { LibraryContext } from './library-context.js';

/** Begins the identifiers of trusted devices. They are not secret: the cookie has a signature of them. */
export const TRUST_PREFIX = 'trust-device-';

export interface TrustedDevice {
  readonly id: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** Milliseconds since 1970: when it was trusted, or last signed in. */
  readonly usedAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface Row {
  readonly id: string;
  readonly ipAddress?: string | null;
  readonly userAgent?: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

function devicesOf(userId: string): Where[] {
  return [
    { field: 'value', value: userId },
    { field: 'identifier', operator: 'starts_with', value: TRUST_PREFIX },
  ];
}

/** The user's trusted devices that have not expired at `nowMs`, latest first. */
export async function listTrustedDevices(
  adapter: Pick<DBAdapter, 'findMany'>,
  userId: string,
  nowMs: number,
): Promise<TrustedDevice[]> {
  const rows = await adapter.findMany<Row>({ model: 'verification', where: devicesOf(userId) });
  return rows
    .map(({ id, ipAddress, userAgent, createdAt, expiresAt }) => ({
      id,
      address: ipAddress || null,
      userAgent: userAgent || null,
      usedAt: createdAt.getTime(),
      expiresAt: expiresAt.getTime(),
    }))
    .filter(({ expiresAt }) => expiresAt > nowMs)
    .sort((a, b) => b.usedAt - a.usedAt);
}

/** Ends the trust in one device of the user, or in all of them. Returns how many there were. */
export function forgetTrustedDevices(
  adapter: Pick<DBAdapter, 'deleteMany'>,
  userId: string,
  id?: string,
): Promise<number> {
  const where = devicesOf(userId);
  if (id !== undefined) where.push({ field: 'id', value: id });
  return adapter.deleteMany({ model: 'verification', where });
}

/** Whether the user trusts the device that sends the request. */
export async function isTrustedDevice(
  context: LibraryContext,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): Promise<boolean> {
  const { createAuthCookie, internalAdapter, secret } = context.context;
  const cookie = await context.getSignedCookie(createAuthCookie('trust_device').name, secret);
  const [signature = '', identifier = ''] = (cookie || '').split('!');
  const expected = createHmac('sha256', secret).update(`${userId}!${identifier}`).digest('base64url');
  const [given, wanted] = [Buffer.from(signature), Buffer.from(expected)];
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
  const found = await internalAdapter.findVerificationValue(identifier);
  return found?.value === userId && found.expiresAt.getTime() > nowMs;
}
