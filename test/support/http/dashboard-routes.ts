/** Every operation of the dashboard's API, and who may use it. Add new operations here. */
import type { Role } from '../../../src/domain/people/member.js';

export interface DashboardRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Anybody, any signed-in user, or members with at least this role. */
  readonly who: 'anybody' | 'user' | Role;
}

const organization = '/api/organizations/:organizationId';

const TABLE: Readonly<Record<string, DashboardRoute['who']>> = {
  'GET /api/session': 'anybody',
  'GET /api/start': 'anybody',
  'GET /api/zones': 'anybody',
  'POST /api/sign-in': 'anybody',
  'POST /api/sign-in/second-factor': 'anybody',
  'POST /api/sign-in/second-factor/start': 'anybody',
  'POST /api/sign-in/second-factor/passkey': 'anybody',
  'POST /api/sign-in/passkey/start': 'anybody',
  'POST /api/sign-in/passkey': 'anybody',
  'GET /api/sign-in/oidc': 'anybody',
  'GET /api/sign-in/oidc/callback/sso': 'anybody',
  'POST /api/sign-out': 'anybody',
  'POST /api/set-up': 'anybody',
  'POST /api/invitations/look-up': 'anybody',
  'POST /api/invitations/accept': 'anybody',
  'POST /api/password-reset': 'anybody',
  'POST /api/password-reset/mail': 'anybody',
  'PATCH /api/account': 'user',
  'POST /api/account/password': 'user',
  'POST /api/account/second-factor/start': 'user',
  'POST /api/account/second-factor/confirm': 'user',
  'POST /api/account/second-factor/stop': 'user',
  'GET /api/account/passkeys': 'user',
  'POST /api/account/passkeys': 'user',
  'POST /api/account/passkeys/start': 'user',
  'POST /api/account/passkeys/challenge': 'user',
  'PATCH /api/account/passkeys/:passkeyId': 'user',
  'POST /api/account/passkeys/:passkeyId/remove': 'user',
  'POST /api/account/invitations/:invitationId/accept': 'user',
  'POST /api/account/invitations/:invitationId/decline': 'user',
  'POST /api/account/organizations/:organizationId/leave': 'user',
  'GET /api/sessions': 'user',
  'POST /api/sessions/:sessionId/end': 'user',
  'POST /api/sessions/end-others': 'user',
  'GET /api/trusted-devices': 'user',
  'DELETE /api/trusted-devices/:deviceId': 'user',
  'GET /api/applications': 'user',
  'POST /api/applications': 'user',
  'POST /api/applications/look-up': 'user',
  'DELETE /api/applications/:applicationId': 'user',
  [`PATCH ${organization}`]: 'owner',
  [`GET ${organization}/projects`]: 'reader',
  [`POST ${organization}/projects`]: 'editor',
  [`PATCH ${organization}/projects/:projectId`]: 'editor',
  [`DELETE ${organization}/projects/:projectId`]: 'editor',
  [`GET ${organization}/projects/:projectId/caller-stats`]: 'reader',
  [`GET ${organization}/projects/:projectId/series`]: 'reader',
  [`GET ${organization}/projects/:projectId/callers`]: 'reader',
  [`GET ${organization}/projects/:projectId/ingestion`]: 'reader',
  [`GET ${organization}/projects/:projectId/numbers`]: 'reader',
  [`GET ${organization}/projects/:projectId/week-hours`]: 'reader',
  [`GET ${organization}/projects/:projectId/imported-counts`]: 'reader',
  [`GET ${organization}/projects/:projectId/imports`]: 'reader',
  [`GET ${organization}/projects/:projectId/changes`]: 'reader',
  [`GET ${organization}/projects/:projectId/corrections`]: 'reader',
  [`POST ${organization}/projects/:projectId/corrections`]: 'editor',
  [`GET ${organization}/summaries`]: 'reader',
  [`GET ${organization}/projects/:projectId/share-links`]: 'viewer',
  [`POST ${organization}/projects/:projectId/share-links`]: 'editor',
  [`DELETE ${organization}/share-links/:shareLinkId`]: 'editor',
  'GET /api/shared/:token': 'anybody',
  'POST /api/shared/:token/unlock': 'anybody',
  'GET /api/shared/:token/caller-stats': 'anybody',
  'GET /api/shared/:token/series': 'anybody',
  'GET /api/shared/:token/callers': 'anybody',
  'GET /api/shared/:token/numbers': 'anybody',
  'GET /api/shared/:token/week-hours': 'anybody',
  'GET /api/shared/:token/imported-counts': 'anybody',
  [`GET ${organization}/projects/:projectId/notifications`]: 'viewer',
  [`POST ${organization}/projects/:projectId/notifications`]: 'editor',
  [`PATCH ${organization}/notifications/:notificationId`]: 'editor',
  [`DELETE ${organization}/notifications/:notificationId`]: 'editor',
  [`POST ${organization}/notifications/:notificationId/test`]: 'editor',
  [`GET ${organization}/keys`]: 'viewer',
  [`POST ${organization}/keys`]: 'editor',
  [`POST ${organization}/keys/:keyId/rotate`]: 'editor',
  [`POST ${organization}/keys/:keyId/disable`]: 'editor',
  [`POST ${organization}/keys/:keyId/enable`]: 'editor',
  [`POST ${organization}/keys/:keyId/revoke`]: 'editor',
  [`GET ${organization}/members`]: 'viewer',
  [`PATCH ${organization}/members/:email`]: 'owner',
  [`DELETE ${organization}/members/:email`]: 'owner',
  [`POST ${organization}/members/:email/end-sessions`]: 'owner',
  [`GET ${organization}/invitations`]: 'viewer',
  [`POST ${organization}/invitations`]: 'owner',
  [`DELETE ${organization}/invitations/:invitationId`]: 'owner',
  [`GET ${organization}/audit`]: 'viewer',
};

export const DASHBOARD_ROUTES: readonly DashboardRoute[] = Object.entries(TABLE).map(([route, who]) => {
  const [method, path = ''] = route.split(' ');
  return { method: method as DashboardRoute['method'], path, who };
});

/** Fills in the parameters of a path: an existing organization and project; all other ids do not exist. */
export function exampleOf(path: string, organizationId = 'default'): string {
  const known: Readonly<Record<string, string>> = { organizationId, projectId: 'docs' };
  const example = path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? 'nobody@example.org');
  // The one that must say since when.
  return path.endsWith('/changes') ? `${example}?since=2024-01-01` : example;
}

/** A body that every operation rejects because of its field, before it changes anything. */
export const REFUSED_BODY = { 'no such field': 1 };
