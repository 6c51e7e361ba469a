/** Invitations: links that let people join an organization without a mail server. */
import { createHash } from 'node:crypto';
import { CallerStatsError } from '../errors.js';
import { invitationDaysMax } from '../limits.js';
import type { SecondFactorRule } from '../projects/organization.js';
import { generateId, type RandomInt, randomText } from '../random-text.js';
import { dayMs } from '../time/duration.js';
import type { Actor } from './audit.js';
import type { Rights } from './member.js';

export interface Invitation extends Rights {
  readonly id: string;
  readonly organizationId: string;
  /** The invited address in lower case; null for the set-up link, which makes the first person who opens it the owner. */
  readonly email: string | null;
  /** The `hashToken` of the link's token, which is not stored. */
  readonly tokenHash: string;
  readonly createdBy: string;
  /** Milliseconds since 1970, like `expiresAt`. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** A user's membership of an organization. */
export interface Membership extends Rights {
  readonly organizationId: string;
  readonly organizationName: string;
  /** Whether the organization requires a second factor. */
  readonly secondFactor: SecondFactorRule;
}

/** The error for every link that does not work, so that it does not tell why. */
export function invalidInvitationError(): CallerStatsError {
  return new CallerStatsError(
    'not_found',
    'The link was used, withdrawn or replaced, has expired, or is for somebody else.',
  );
}

/** 43 base62 characters: 256 random bits. */
export function generateToken(randomInt: RandomInt): string {
  return randomText(43, randomInt);
}

/** Creates an invitation and the token of its link, which is shown this once. */
export function newInvitation(
  wanted: Pick<Invitation, 'organizationId' | 'email' | keyof Rights>,
  { by, randomInt }: { readonly by: Actor; readonly randomInt: RandomInt },
): { readonly invitation: Invitation; readonly token: string } {
  const token = generateToken(randomInt);
  const invitation = {
    ...wanted,
    id: generateId(randomInt),
    tokenHash: hashToken(token),
    createdBy: by.name,
    createdAt: by.at,
    expiresAt: by.at + invitationDaysMax * dayMs,
  };
  return { invitation, token };
}

/** A fast hash is enough for 256 random bits; see `hashKey`. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
