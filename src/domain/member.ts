/** The people of an organization. */
import { emailCharactersMax } from './limits.js';

/** `owner`: everything. `editor`: keys and projects. `viewer`: reads. */
export const ROLES = ['owner', 'editor', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

export interface Member {
  readonly organizationId: string;
  /** In lower case: two spellings of one address are one member. */
  readonly email: string;
  readonly role: Role;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

/** An e-mail address as a member is known by; undefined for what cannot be one. No more than a check for typing errors. */
export function toEmail(text: string): string | undefined {
  const email = text.trim().toLowerCase();
  return email.length <= emailCharactersMax && /^[^\s@,;<>"]+@[^\s@,;<>".]+(\.[^\s@,;<>".]+)*$/.test(email)
    ? email
    : undefined;
}
