/** The members of an organization and their roles. */
import { CallerStatsError } from '../errors.js';
import { emailCharactersMax, readerProjectsMax } from '../limits.js';
import { isProjectId } from '../projects/project.js';
import { failure, quote, type Result, success } from '../result.js';

/** `owner`: everything. `editor`: keys and projects. `viewer`: reading. `reader`: reading the counts of certain projects. */
export const ROLES = ['owner', 'editor', 'viewer', 'reader'] as const;

export type Role = (typeof ROLES)[number];

/** Whether a role allows what needs `needed`. Each role allows everything that the roles after it allow. */
export function roleAllows(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

/** What a member may do, and in which projects. */
export interface Rights {
  readonly role: Role;
  /** Of a reader, the ids of the projects that they may read; of all others none, because they may read every project. */
  readonly projects: readonly string[];
}

export function mayRead({ role, projects }: Rights, projectId: string): boolean {
  return role !== 'reader' || projects.includes(projectId);
}

/** A reader has projects, each once, and nobody else has any. */
export function parseRights(role: Role, projects: readonly string[] = []): Result<Rights> {
  if (role !== 'reader')
    return projects.length === 0
      ? success({ role, projects })
      : failure(`only a reader has some; ${role}s read all projects`);
  const ids = [...new Set(projects)].toSorted();
  if (ids.length === 0) return failure('a reader needs at least one project');
  if (ids.length > readerProjectsMax) return failure(`has more than ${readerProjectsMax} projects`);
  const wrong = ids.find((id) => !isProjectId(id));
  if (wrong !== undefined) return failure(`${quote(wrong)} is not the id of a project`);
  return success({ role, projects: ids });
}

export function describeRights({ role, projects }: Rights): string {
  return role === 'reader' ? `reader of ${projects.join(', ') || 'no project'}` : role;
}

export interface Member extends Rights {
  readonly organizationId: string;
  /** In lower case, so that two spellings of an address are one member. */
  readonly email: string;
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
