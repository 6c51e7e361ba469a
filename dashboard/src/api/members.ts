/** The members and open invitations of an organization. */
import { queryOptions } from '@tanstack/react-query';
import { request } from './client.js';
import { organizationPath } from './projects.js';
import { queryClient } from './query-client.js';
import type { CreatedInvitation, Invitation, Member, Role } from './types.js';

export function membersQuery(organizationId: string) {
  return queryOptions({
    queryKey: ['organization', organizationId, 'members'],
    queryFn: ({ signal }) =>
      request<{ members: Member[] }>('GET', `${organizationPath(organizationId)}/members`, undefined, signal),
  });
}

export function invitationsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ['organization', organizationId, 'invitations'],
    queryFn: ({ signal }) =>
      request<{ invitations: Invitation[] }>(
        'GET',
        `${organizationPath(organizationId)}/invitations`,
        undefined,
        signal,
      ),
  });
}

export async function changeMember(organizationId: string, email: string, role: Role): Promise<void> {
  await request('PATCH', memberPath(organizationId, email), { role });
  await queryClient.invalidateQueries(membersQuery(organizationId));
}

export async function removeMember(organizationId: string, email: string): Promise<void> {
  await request('DELETE', memberPath(organizationId, email));
  await queryClient.invalidateQueries(membersQuery(organizationId));
}

/** Invites a member. Only this response contains the token of the link. */
export async function invite(organizationId: string, email: string, role: Role): Promise<CreatedInvitation> {
  const created = await request<CreatedInvitation>(
    'POST',
    `${organizationPath(organizationId)}/invitations`,
    {
      email,
      role,
    },
  );
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
