/** The members and open invitations of an organization. */
import { listQuery, organizationPath, request } from './client.js';
import { queryClient } from './query-client.js';
import { refreshSession } from './session.js';
import type { CreatedInvitation, Invitation, Member, Role } from './types.js';

export function membersQuery(organizationId: string) {
  return listQuery<{ members: Member[] }>(organizationId, 'members');
}

export function invitationsQuery(organizationId: string) {
  return listQuery<{ invitations: Invitation[] }>(organizationId, 'invitations');
}

export async function changeMember(organizationId: string, email: string, role: Role): Promise<void> {
  await request('PATCH', memberPath(organizationId, email), { role });
  await queryClient.invalidateQueries(membersQuery(organizationId));
}

export async function removeMember(organizationId: string, email: string): Promise<void> {
  await request('DELETE', memberPath(organizationId, email));
  await queryClient.invalidateQueries(membersQuery(organizationId));
}

export async function renameOrganization(organizationId: string, name: string): Promise<void> {
  await request('PATCH', organizationPath(organizationId), { name });
  await refreshSession();
}

/** Invites a member. Only this response contains the token of the link. */
export async function invite(organizationId: string, email: string, role: Role): Promise<CreatedInvitation> {
  const path = `${organizationPath(organizationId)}/invitations`;
  const created = await request<CreatedInvitation>('POST', path, { email, role });
  await queryClient.invalidateQueries(invitationsQuery(organizationId));
  return created;
}

export async function withdrawInvitation(organizationId: string, id: string): Promise<void> {
  await request('DELETE', `${organizationPath(organizationId)}/invitations/${encodeURIComponent(id)}`);
  await queryClient.invalidateQueries(invitationsQuery(organizationId));
}

function memberPath(organizationId: string, email: string): string {
  return `${organizationPath(organizationId)}/members/${encodeURIComponent(email)}`;
}
