/** The names and descriptions of the roles. */
import type { Member, Role } from '../../api/types.js';

export const ROLES: readonly { readonly role: Role; readonly name: string; readonly may: string }[] = [
  { role: 'reader', name: 'Reader', may: 'Can view certain projects, and nothing else.' },
  { role: 'viewer', name: 'Viewer', may: 'Can view everything and change nothing.' },
  { role: 'editor', name: 'Editor', may: 'Can also create and change keys and projects.' },
  { role: 'owner', name: 'Owner', may: 'Can also invite members and change roles.' },
];

/** The role of a member or an invitation, with the projects of a reader. */
export function rightsName({ role, projects }: Pick<Member, 'role' | 'projects'>): string {
  return role === 'reader' ? `Reader of ${projects?.join(', ') || 'no project'}` : roleName(role);
}

export function roleName(role: Role): string {
  return ROLES.find((one) => one.role === role)?.name ?? role;
}
