/** Invitations: a link that lets somebody join an organization, with no mail server in between. */
import { createHash } from 'node:crypto';
import { CallerStatsError } from '../errors.js';
import { invitationDaysMax } from '../limits.js';
import { generateId } from '../projects/project.js';
import { dayMs } from '../time/duration.js';
import type { Actor } from './audit.js';
import type { Role } from './member.js';

export interface Invitation {
  readonly id: string;
  readonly organizationId: string;
  /** Whom it is for, in lower case; null for the set-up address, which makes whoever opens it first the owner. */
  readonly email: string | null;
  readonly role: Role;
  /** What `hashToken` makes of the link's token; the token itself is kept nowhere. */
  readonly tokenHash: string;
  readonly createdBy: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** An organization that somebody is a member of, and as what. */
export interface Membership {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly role: Role;
}

/** What to say to whoever holds a link that does not let them in, for whatever reason. */
export function invalidInvitationError(): CallerStatsError {
  return new CallerStatsError(
    'not_found',
    'The link was used, withdrawn or replaced, has expired, or is for somebody else.',
  );
}

const TOKEN_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 43 base62 characters: 256 random bits. */
const tokenCharacters = 43;

export function generateToken(randomInt: (max: number) => number): string {
  return Array.from({ length: tokenCharacters }, () =>
    TOKEN_ALPHABET.charAt(randomInt(TOKEN_ALPHABET.length)),
  ).join('');
}

/** Makes an invitation, and the token of its link: show that, this once. */
export function newInvitation(
  wanted: Pick<Invitation, 'organizationId' | 'email' | 'role'>,
  { by, randomInt }: { readonly by: Actor; readonly randomInt: (max: number) => number },
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

/** A fast hash is right for 256 random bits: there is nothing to guess (see `hashKey`). */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
