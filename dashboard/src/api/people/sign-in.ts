/** Signing in and out, and the pages behind one-time links. */

import { basePath } from '../../navigation/base-path.js';
import { request } from '../client.js';
import type { InvitationPreview } from '../types.js';

/** Returns whether two-factor authentication is needed to finish. */
export function signIn(email: string, password: string): Promise<{ secondFactor: boolean }> {
  return request('POST', '/api/sign-in', { email, password });
}

/** Verifies the six digits of an authenticator app, or a backup code. */
export function confirmSignIn(code: string, trustDevice: boolean): Promise<void> {
  return request('POST', '/api/sign-in/second-factor', { code, trustDevice });
}

export function signOut(): Promise<void> {
  return request('POST', '/api/sign-out', {});
}

/** The URL that starts single sign-on and returns to a page of the dashboard. */
export function singleSignOnPath(to: string): string {
  return `${basePath}/api/sign-in/oidc?to=${encodeURIComponent(to)}`;
}

export interface NewAccount {
  readonly name: string;
  readonly password: string;
}

/** Creates the first account, and names the first organization. */
export function setUp(
  token: string,
  account: NewAccount & { readonly email: string; readonly organization: string },
): Promise<void> {
  return request('POST', '/api/set-up', { token, ...account });
}

export function lookUpInvitation(token: string): Promise<InvitationPreview> {
  return request('POST', '/api/invitations/look-up', { token });
}

/** Accepts an invitation. New users get an account; users with an account must be signed in. */
export function acceptInvitation(token: string, account?: NewAccount): Promise<void> {
  return request('POST', '/api/invitations/accept', { token, ...account });
}

/** Asks for a link by e-mail that sets a new password. The answer does not tell whether there is an account. */
export function mailReset(email: string): Promise<void> {
  return request('POST', '/api/password-reset/mail', { email });
}

export function resetPassword(token: string, password: string): Promise<void> {
  return request('POST', '/api/password-reset', { token, password });
}
