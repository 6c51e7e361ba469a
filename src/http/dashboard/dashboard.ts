/**
 * The API of the dashboard's pages. It takes session cookies and no keys. It is not public and may change with the pages.
 * The paths of share links take the token of a link instead.
 */
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Credentials } from '../../auth/credentials.js';
import { Passkeys } from '../../auth/passkeys/passkeys.js';
import { Users } from '../../auth/users.js';
import { dashboardBodyBytesMax } from '../../domain/limits.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { HttpError } from '../server/errors.js';
import { SessionGuard } from './authorize.js';
import type { Dashboard, DashboardOptions } from './context.js';
import { LoginThrottle } from './login-throttle.js';
import { addAccount, addSessions, addTrustedDevices, addTwoFactor } from './routes/account.js';
import { addAudit } from './routes/audit.js';
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
import { addShared, addSharedPages } from './routes/shared.js';
import { addSignIn, addSingleSignOn } from './routes/sign-in.js';
import { addSummaries } from './routes/summaries.js';
import { SharedLinks } from './shared-links.js';

export async function addDashboardApi(app: FastifyInstance, options: DashboardOptions): Promise<void> {
  const { authProvider, store, clock } = options;
  const users = new Users(authProvider, store.directory);
  const loginThrottle = new LoginThrottle({ authProvider, throttles: store.throttles, clock });
  const dashboard: Dashboard = {
    ...options,
    users,
    credentials: new Credentials(authProvider),
    passkeys: new Passkeys(authProvider, users),
    sessionGuard: new SessionGuard(users, store, clock),
    loginThrottle,
    sharedLinks: new SharedLinks({ ...options, loginThrottle }),
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
      addProjects,
      addCounts,
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
      addShared,
    ]) {
      add(own, dashboard);
    }
    await addSharedPages(own, dashboard);
  });
}

/** No id has a NUL character, and databases refuse it (see `fields.ts`). */
async function refuseNul({ url }: FastifyRequest): Promise<void> {
  if (url.includes('%00')) throw new HttpError(404, 'There is no such thing: its name has a NUL character.');
}

const SAFE = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];

/**
 * Protects against cross-site request forgery: `403` for a change that comes from a page of another site. Browsers send the
 * origin with every such request (Fetch, "Origin header"; OWASP's CSRF Prevention Cheat Sheet, "Verifying Origin With
 * Standard Headers"). It must be that of the public URL; without one, that of the host that the request names.
 */
function requireSameOrigin(publicUrl: string | undefined) {
  const where = publicUrl === undefined ? '' : `, which is at ${publicUrl}`;
  return async (request: FastifyRequest): Promise<void> => {
    if (SAFE.includes(request.method)) return;
    const { headers, protocol } = request;
    const { origin = '', host = '', 'sec-fetch-site': site } = headers;
    const isOwn =
      URL.canParse(origin) &&
      (publicUrl === undefined
        ? isOriginOfHost(new URL(origin), host, protocol)
        : new URL(origin).origin === publicUrl);
    if (!isOwn || (site !== undefined && site !== 'same-origin'))
      throw new HttpError(403, `The request does not come from a page of this server${where}.`);
  };
}

/**
 * Whether the origin is that of the `Host` header. Other headers that name a host are not read, because proxies pass on what
 * clients send. A request over HTTP may come from a page over HTTPS, because an unknown proxy may have terminated it.
 */
function isOriginOfHost(origin: URL, host: string, protocol: string): boolean {
  if (protocol === 'https' && origin.protocol !== 'https:') return false;
  // The same parser drops a default port from both.
  const requested = `${origin.protocol}//${host}`;
  return URL.canParse(requested) && new URL(requested).host === origin.host;
}
