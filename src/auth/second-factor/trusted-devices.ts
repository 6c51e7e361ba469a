/** Devices that need no second factor for a while. Each is a verification value of the user. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { DBAdapter, Where } from 'better-auth';
import { trustSeconds } from '../../domain/limits.js';
import { secondMs } from '../../domain/time/duration.js';
import { APPLICATION_PREFIX } from '../names.js';
import { keepNewest } from '../newest.js';
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

function rowsOf(userId: string, prefix: string): Where[] {
  return [
    { field: 'value', value: userId },
    { field: 'identifier', operator: 'starts_with', value: prefix },
  ];
}

/** The user's trusted devices that have not expired at `nowMs`, latest first. */
export async function listTrustedDevices(
  adapter: Pick<DBAdapter, 'findMany'>,
  userId: string,
  nowMs: number,
): Promise<TrustedDevice[]> {
  const rows = await adapter.findMany<Row>({ model: 'verification', where: rowsOf(userId, TRUST_PREFIX) });
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
  const where = rowsOf(userId, TRUST_PREFIX);
  if (id !== undefined) where.push({ field: 'id', value: id });
  return adapter.deleteMany({ model: 'verification', where });
}

/**
 * After a change of factors: ends the trust in all devices of the user, and the connections of applications, which somebody may have
 * allowed in a session that began without the factor.
 */
export async function forgetLasting(adapter: Pick<DBAdapter, 'deleteMany'>, userId: string): Promise<void> {
  for (const prefix of [TRUST_PREFIX, APPLICATION_PREFIX])
    await adapter.deleteMany({ model: 'verification', where: rowsOf(userId, prefix) });
}

/**
 * Ends the trust in all devices of the user, and everything that was begun and not finished: sign-ins that wait for the second
 * factor, and links that set a new password, except the one with the id `exceptId`.
 */
export async function forgetPending(
  adapter: Pick<DBAdapter, 'deleteMany'>,
  userId: string,
  exceptId = '',
): Promise<void> {
  const where: Where[] = [
    { field: 'value', value: userId },
    { field: 'id', operator: 'ne', value: exceptId },
  ];
  await adapter.deleteMany({ model: 'verification', where });
}

/** Trusts the device that sends the request. */
export async function trustDevice(context: LibraryContext, userId: string, nowMs: number): Promise<void> {
  const { createAuthCookie, adapter, internalAdapter, secret } = context.context;
  const identifier = TRUST_PREFIX + randomBytes(24).toString('base64url');
  const expiresAt = new Date(nowMs + trustSeconds * secondMs);
  const added = await internalAdapter.createVerificationValue({ identifier, value: userId, expiresAt });
  await keepNewest(adapter, 'verification', rowsOf(userId, TRUST_PREFIX), added);
  const { name, attributes } = createAuthCookie('trust_device', { maxAge: trustSeconds });
  await context.setSignedCookie(
    name,
    `${sign(secret, userId, identifier)}!${identifier}`,
    secret,
    attributes,
  );
}

/** Whether the user trusts the device that sends the request. If so, the trust begins anew. */
export async function renewTrust(
  context: LibraryContext,
  { userId, nowMs }: { readonly userId: string; readonly nowMs: number },
): Promise<boolean> {
  const expiresAt = await forgetThisDevice(context, userId);
  if (expiresAt === undefined || expiresAt.getTime() <= nowMs) return false;
  await trustDevice(context, userId, nowMs);
  return true;
}

/** Ends the user's trust in the device that sends the request. Returns when it would have ended; undefined if there was none. */
export async function forgetThisDevice(context: LibraryContext, userId: string): Promise<Date | undefined> {
  const { createAuthCookie, internalAdapter, secret } = context.context;
  const cookie = await context.getSignedCookie(createAuthCookie('trust_device').name, secret);
  const [signature = '', identifier = ''] = (cookie || '').split('!');
  const [given, wanted] = [Buffer.from(signature), Buffer.from(sign(secret, userId, identifier))];
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
  const found = await internalAdapter.findVerificationValue(identifier);
  if (found?.value !== userId) return undefined;
  await internalAdapter.deleteVerificationByIdentifier(identifier);
  return found.expiresAt;
}

function sign(secret: string, userId: string, identifier: string): string {
  return createHmac('sha256', secret).update(`${userId}!${identifier}`).digest('base64url');
}
