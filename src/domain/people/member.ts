/** The members of an organization and their roles. */
import { CallerStatsError } from '../errors.js';
import { emailCharactersMax } from '../limits.js';

/** `owner`: everything. `editor`: keys and projects. `viewer`: reading. */
export const ROLES = ['owner', 'editor', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

/** Whether a role allows what needs `needed`. Each role allows everything that the roles after it allow. */
export function roleAllows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

export interface Member {
  readonly organizationId: string;
  /** In lower case, so that two spellings of an address are one member. */
  readonly email: string;
  readonly role: Role;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** ASCII, with a dot in the domain: the sign-in library accepts no more. Without `u`, which takes other letters for ASCII. */
const EMAIL = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/i;

/** Normalizes an e-mail address; undefined if it is invalid or cannot sign in. */
export function toEmail(text: string): string | undefined {
  const email = text.trim();
  return email.length <= emailCharactersMax && EMAIL.test(email) ? email.toLowerCase() : undefined;
}

export function lastOwnerError(email: string): CallerStatsError {
  return new CallerStatsError('invalid', `${email} is the last owner; make another member an owner first.`);
}

/** Of an owner, if the accounts of all other owners, or that they have none, keep the organization closed to them. */
export function lastOpenOwnerError(email: string): CallerStatsError {
  return new CallerStatsError(
    'invalid',
    `${email} is the last owner with an account that opens the organization; make another member with one an owner first.`,
  );
}
