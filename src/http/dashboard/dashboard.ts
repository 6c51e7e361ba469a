/**
 * The API of the dashboard's pages. It takes session cookies and no keys. It is not public and may change with the pages.
 * The paths of share links take the token of a link instead.
 */
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Credentials } from '../../auth/credentials.js';
import { Passkeys } from '../../auth/passkeys/passkeys.js';
import { Users } from '../../auth/users.js';
import {
  dashboardBodyBytesMax,
  sharedReportsMax,
  sharedRequestsPerMinute,
  waitingReportsMax,
} from '../../domain/limits.js';
import { Slots } from '../../shared/slots.js';
import { RateLimit } from '../admission/rate-limits.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { requireSameOrigin } from '../request/origin.js';
import { HttpError } from '../server/errors.js';
import { SessionGuard } from './authorize.js';
import type { Dashboard, DashboardOptions } from './context.js';
import { LoginThrottle } from './login-throttle.js';
import { ResetMails } from './reset-mails.js';
import { addAccount, addSessions, addTrustedDevices, addTwoFactor } from './routes/account.js';
import { addConnectedApplications } from './routes/applications.js';
import { addAudit } from './routes/audit.js';
import { addMemberCorrections } from './routes/corrections.js';
import { addCounts } from './routes/counts.js';
import { addInvitationLinks, addPasswordReset, addSetUp } from './routes/invitations.js';
import { addKeys } from './routes/keys.js';
import { addInvitations, addMembers } from './routes/members.js';
import { addNotifications } from './routes/notifications.js';
import { addLeaving, addOrganization, addOwnInvitations } from './routes/organization.js';
import { addPasskeySignIn, addPasskeys } from './routes/passkeys.js';
import { addProjects } from './routes/projects.js';
import { addSession } from './routes/session.js';
import { addShareLinks } from './routes/share-links.js';
import { addSignIn, addSingleSignOn } from './routes/sign-in.js';
import { addSummaries } from './routes/summaries.js';
import { SharedLinks } from './shared-links.js';
import { addShared, addSharedPages } from './shared-routes.js';

export async function addDashboardApi(app: FastifyInstance, options: DashboardOptions): Promise<void> {
  const { authProvider, store, clock, requests } = options;
  const users = new Users(authProvider, store.directory);
  const loginThrottle = new LoginThrottle({ authProvider, throttles: store.throttles, clock });
  const credentials = new Credentials(authProvider);
  const resetMails = new ResetMails({ ...options, credentials });
  app.addHook('onClose', () => resetMails.finished());
  const dashboard: Dashboard = {
    ...options,
    users,
    credentials,
    resetMails,
    passkeys: new Passkeys(authProvider, users),
    sessionGuard: new SessionGuard(users, { store, clock, requests }),
    loginThrottle,
    sharedLinks: new SharedLinks({
      ...options,
      requests: new RateLimit('share link', requests.quota || sharedRequestsPerMinute),
      loginThrottle,
    }),
  };
  // A separate context, because only these routes use cookies and limit bodies to a small size.
  await app.register(async (own) => {
    await own.register(cookie);
    own.removeAllContentTypeParsers();
    addJsonParser(own, dashboardBodyBytesMax);
    own.addHook('onRequest', refuseNul);
    own.addHook('onRequest', requireSameOrigin(authProvider.publicUrl));
    own.addHook('preParsing', refuseEncoding);
    for (const add of [
      addSession,
      addSignIn,
      addPasskeySignIn,
      addSingleSignOn,
      addSetUp,
      addInvitationLinks,
      addPasswordReset,
      addAccount,
      addTwoFactor,
      addPasskeys,
      addSessions,
      addTrustedDevices,
      addConnectedApplications,
      addProjects,
      addCounts,
      addMemberCorrections,
      addSummaries,
      addKeys,
      addNotifications,
      addMembers,
      addOrganization,
      addOwnInvitations,
      addLeaving,
      addInvitations,
      addAudit,
      addShareLinks,
    ]) {
      add(own, dashboard);
    }
    // Of their own: however many readers a link has, they keep no member waiting.
    const slots = new Slots(sharedReportsMax, waitingReportsMax);
    addShared(own, dashboard, slots);
    await addSharedPages(own, dashboard, slots);
  });
}

/** No id has a NUL character, and databases refuse it (see `fields.ts`). */
async function refuseNul({ url }: FastifyRequest): Promise<void> {
  if (url.includes('%00')) throw new HttpError(404, 'There is no such thing: its name has a NUL character.');
}
