/** The signed-in user's own account. */
import { getQuery, request } from '../client.js';
import { queryClient } from '../query-client.js';
import type {
  AskedApplication,
  ConnectedApplication,
  Proof,
  SignedInDevice,
  TrustedDevice,
  TwoFactorSetup,
} from '../types.js';

export function rename(name: string): Promise<void> {
  return request('PATCH', '/api/account', { name });
}

export function answerInvitation(id: string, answer: 'accept' | 'decline'): Promise<void> {
  return request('POST', `/api/account/invitations/${encodeURIComponent(id)}/${answer}`, {});
}

export function leaveOrganization(id: string): Promise<void> {
  return request('POST', `/api/account/organizations/${encodeURIComponent(id)}/leave`, {});
}

/** Ends every other session. */
export function changePassword(proof: Proof, newPassword: string): Promise<void> {
  return request('POST', '/api/account/password', { ...proof, newPassword });
}

export function startTwoFactor(proof: Proof): Promise<TwoFactorSetup> {
  return request('POST', '/api/account/second-factor/start', proof);
}

export function confirmTwoFactor(code: string): Promise<void> {
  return request('POST', '/api/account/second-factor/confirm', { code });
}

export function stopTwoFactor(proof: Proof): Promise<void> {
  return request('POST', '/api/account/second-factor/stop', proof);
}

export const sessionsQuery = getQuery<{ sessions: SignedInDevice[] }>('/api/sessions');

/** All others, without an id. */
export async function endSessions(id: string | null, proof: Proof): Promise<void> {
  const path = id === null ? 'end-others' : `${encodeURIComponent(id)}/end`;
  await request('POST', `/api/sessions/${path}`, proof);
  await queryClient.invalidateQueries(sessionsQuery);
}

export const trustedDevicesQuery = getQuery<{ devices: TrustedDevice[] }>('/api/trusted-devices');

/** The device needs a code at the next sign-in. */
export function forgetTrustedDevice(id: string): Promise<void> {
  return request('DELETE', `/api/trusted-devices/${encodeURIComponent(id)}`);
}

export const applicationsQuery = getQuery<{ applications: ConnectedApplication[] }>('/api/applications');

/** What asks to read in the user's name, with the query string that it sent. */
export function lookUpApplication(query: string): Promise<AskedApplication> {
  return request('POST', '/api/applications/look-up', { query });
}

/** The address to send the browser to. */
export function answerApplication(query: string, allow: boolean): Promise<{ readonly redirect: string }> {
  return request('POST', '/api/applications', { query, allow });
}

/** Its tokens stop working at once. */
export async function disconnectApplication(id: string): Promise<void> {
  await request('DELETE', `/api/applications/${encodeURIComponent(id)}`);
  await queryClient.invalidateQueries(applicationsQuery);
}
