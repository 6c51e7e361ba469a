/** The names and descriptions of the roles. */
import type { Role } from '../../api/types.js';

export const ROLES: readonly { readonly role: Role; readonly name: string; readonly may: string }[] = [
  { role: 'viewer', name: 'Viewer', may: 'Can view everything and change nothing.' },
  { role: 'editor', name: 'Editor', may: 'Can also create and change keys and projects.' },
  { role: 'owner', name: 'Owner', may: 'Can also invite members and change roles.' },
];

export function roleName(role: Role): string {
  return ROLES.find((one) => one.role === role)?.name ?? role;
}
