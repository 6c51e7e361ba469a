/** The people of an organization. */
import { CallerStatsError } from '../errors.js';
import { emailCharactersMax } from '../limits.js';

/** `owner`: everything. `editor`: keys and projects. `viewer`: reads. */
export const ROLES = ['owner', 'editor', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

/** Whether a role may do what needs `needed`: each may what those behind it may. */
export function roleAllows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

export interface Member {
  readonly organizationId: string;
  /** In lower case: two spellings of one address are one member. */
  readonly email: string;
  readonly role: Role;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** ASCII alone, and a domain with a dot in it: no more than the sign-in library takes. */
const EMAIL = /^(?!\.)(?!.*\.\.)[a-z0-9_'+.-]*[a-z0-9_+-]@([a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/;

/** An e-mail address as a member is known by; undefined for what cannot be one, or not one that can sign in. */
export function toEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return email.length <= emailCharactersMax && EMAIL.test(email) ? email : undefined;
}

/** What to say to whoever would leave an organization without an owner. */
export function lastOwnerError(email: string): CallerStatsError {
  return new CallerStatsError('invalid', `${email} is the last owner: make somebody else an owner first.`);
}
