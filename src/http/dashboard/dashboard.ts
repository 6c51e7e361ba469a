/**
 * The API of the dashboard's pages. It takes session cookies and no keys. It is not public and may change with the pages.
 */
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Credentials } from '../../auth/credentials.js';
import { Users } from '../../auth/users.js';
import { dashboardBodyBytesMax } from '../../domain/limits.js';
import { HttpError } from '../errors.js';
import { addJsonParser, refuseEncoding } from '../request/body.js';
import { SessionGuard } from './authorize.js';
import type { Dashboard, DashboardOptions } from './context.js';
import { LoginThrottle } from './login-throttle.js';
import { addAccount, addSessions, addTrustedDevices, addTwoFactor } from './routes/account.js';
import { addAudit } from './routes/audit.js';
import { addCounts } from './routes/counts.js';
import { addInvitationLinks, addPasswordReset, addSetUp } from './routes/invitations.js';
import { addKeys } from './routes/keys.js';
import { addInvitations, addMembers } from './routes/members.js';
import { addOrganization } from './routes/organization.js';
import { addProjects } from './routes/projects.js';
import { addSession } from './routes/session.js';
import { addSignIn, addSingleSignOn } from './routes/sign-in.js';

export async function addDashboardApi(app: FastifyInstance, options: DashboardOptions): Promise<void> {
  const { authProvider, store, clock } = options;
  const users = new Users(authProvider, store);
  const dashboard: Dashboard = {
    ...options,
    users,
    credentials: new Credentials(authProvider),
    sessionGuard: new SessionGuard(users, store, clock),
    loginThrottle: new LoginThrottle({ authProvider, throttles: store.throttles, clock }),
  };
  // A separate context, because only these routes use cookies and limit bodies to a small size.
  await app.register(async (own) => {
    await own.register(cookie);
    own.removeAllContentTypeParsers();
    addJsonParser(own, dashboardBodyBytesMax);
    own.addHook('onRequest', refuseNul);
    own.addHook('onRequest', requireSameOrigin);
    own.addHook('preParsing', refuseEncoding);
    for (const add of [
      addSession,
      addSignIn,
      addSingleSignOn,
      addSetUp,
      addInvitationLinks,
      addPasswordReset,
      addAccount,
      addTwoFactor,
      addSessions,
      addTrustedDevices,
      addProjects,
      addCounts,
      addKeys,
      addMembers,
      addOrganization,
      addInvitations,
      addAudit,
    ]) {
      add(own, dashboard);
    }
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
 * Standard Headers"). Only the host is compared, because a proxy may have terminated HTTPS.
 */
async function requireSameOrigin({ method, headers, host }: FastifyRequest): Promise<void> {
  if (SAFE.includes(method)) return;
  const { origin, 'sec-fetch-site': site } = headers;
  if (!isOriginOfHost(origin, host) || (site !== undefined && site !== 'same-origin')) {
    throw new HttpError(403, 'The request does not come from a page of this server.');
  }
}

function isOriginOfHost(origin: string | undefined, host: string): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // The same parser drops a default port from both.
  const requested = `${protocol}//${host}`;
  return URL.canParse(requested) && new URL(requested).host === originHost;
}
