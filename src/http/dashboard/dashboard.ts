/**
 * The dashboard's API: what its pages ask, with the cookie of a session and never with a key. Not part of the public
 * interface: it may change with the pages.
 */
import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../../domain/clock.js';
import { dashboardBodyBytesMax } from '../../domain/limits.js';
import type { Store } from '../../storage/store.js';
import { Credentials } from '../../users/credentials.js';
import { Users } from '../../users/users.js';
import { addJsonParser, refuseEncoding } from '../body.js';
import { HttpError } from '../errors.js';
import { addAccount } from './account.js';
import { addAudit } from './audit.js';
import type { Dashboard, DashboardOptions } from './context.js';
import { addCounts } from './counts.js';
import { GuessGuard } from './guess-guard.js';
import { addJoining } from './joining.js';
import { addKeys } from './keys.js';
import { addMembers } from './members.js';
import { Doorkeeper } from './members-only.js';
import { addProjects } from './projects.js';
import { requireSameOrigin } from './same-origin.js';
import { addSession } from './session.js';
import { addSignIn } from './sign-in.js';

export async function addDashboardApi(
  app: FastifyInstance,
  { store, clock, ...options }: DashboardOptions & { readonly store: Store; readonly clock: Clock },
): Promise<void> {
  const { libraries } = options;
  const users = new Users(libraries, store.people);
  const dashboard: Dashboard = {
    ...options,
    users,
    credentials: new Credentials(libraries),
    store,
    clock,
    door: new Doorkeeper({ users, store, clock }),
    guard: new GuessGuard(libraries),
  };
  // A context of its own: cookies, and bodies that are small, are here alone.
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
      addJoining,
      addAccount,
      addProjects,
      addCounts,
      addKeys,
      addMembers,
      addAudit,
    ]) {
      add(own, dashboard);
    }
  });
}

/** Nothing has a NUL character in its name, and a database may not take one (see `fields.ts`). */
async function refuseNul({ url }: FastifyRequest): Promise<void> {
  if (url.includes('%00')) throw new HttpError(404, 'There is no such thing: its name has a NUL character.');
}
