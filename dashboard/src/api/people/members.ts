/** The members and open invitations of an organization. */
import { listQuery, request } from '../client.js';
import { organizationPath } from '../paths.js';
import { queryClient } from '../query-client.js';
import { refreshSession } from '../session.js';
import type {
  CreatedInvitation,
  Dismissal,
  EndedSessions,
  Invitation,
  Key,
  Member,
  Organization,
} from '../types.js';

export function membersQuery(organizationId: string) {
  return listQuery<{ members: Member[] }>(organizationId, 'members');
}

export function invitationsQuery(organizationId: string) {
  return listQuery<{ invitations: Invitation[] }>(organizationId, 'invitations');
}

/** A role, and of a reader the ids of the projects that they may read. */
type GivenRights = Pick<Member, 'role' | 'projects'>;

/** Returns the admin keys that the member created and may not manage any more. */
export function changeMember(
  organizationId: string,
  email: string,
  rights: GivenRights,
): Promise<readonly Key[]> {
  return dismiss('PATCH', organizationId, email, rights);
}

/** The same. */
export function removeMember(organizationId: string, email: string): Promise<readonly Key[]> {
  return dismiss('DELETE', organizationId, email);
}

/** Returns how many there were. */
export async function endMemberSessions(organizationId: string, email: string): Promise<number> {
  const path = `${memberPath(organizationId, email)}/end-sessions`;
  return (await request<EndedSessions>('POST', path, {})).ended;
}

async function dismiss(
  method: 'PATCH' | 'DELETE',
  organizationId: string,
  email: string,
  body?: GivenRights,
): Promise<readonly Key[]> {
  const { keys } = await request<Dismissal>(method, memberPath(organizationId, email), body);
  await queryClient.invalidateQueries(membersQuery(organizationId));
  // Invitations by the member are withdrawn.
  await queryClient.invalidateQueries(invitationsQuery(organizationId));
  return keys;
}

export async function changeOrganization(
  organizationId: string,
  change: Partial<Pick<Organization, 'name' | 'secondFactor'>>,
): Promise<void> {
  await request('PATCH', organizationPath(organizationId), change);
  await refreshSession();
}

/** Invites a member. Only this response contains the token of the link. */
export async function invite(
  organizationId: string,
  email: string,
  rights: GivenRights,
): Promise<CreatedInvitation> {
  const path = `${organizationPath(organizationId)}/invitations`;
  const created = await request<CreatedInvitation>('POST', path, { email, ...rights });
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
