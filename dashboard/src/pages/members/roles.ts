/** What the roles are, in words. */
import type { Role } from '../../api/types.js';

export const ROLES: readonly { readonly role: Role; readonly name: string; readonly may: string }[] = [
  { role: 'viewer', name: 'Viewer', may: 'Looks at everything and changes nothing.' },
  { role: 'editor', name: 'Editor', may: 'Also makes and changes keys and projects.' },
  { role: 'owner', name: 'Owner', may: 'Also invites people and changes roles.' },
];

export function roleName(role: Role): string {
  return ROLES.find((one) => one.role === role)?.name ?? role;
}
