/** Visits of the dashboard's pages by signed-in users. */
import type { BrowserContextOptions } from 'playwright-core';
import { browserVisits, type Visit } from './browser.js';
import type { DashboardServer, DashboardStarter } from './dashboard-server.js';
import { Session } from './dashboard-user.js';

/** A server and a session of a user. */
export interface Place {
  readonly server: DashboardServer;
  readonly session: Session;
}

/** Starts a server and creates its first user, an owner. For `sharedByTests`. */
export function startSetUp(start: DashboardStarter, ...args: Parameters<DashboardStarter>) {
  return async (): Promise<Place> => {
    const server = await start(...args);
    return { server, session: await Session.setUp(server) };
  };
}

/** Opens a page in a new browser context, signed in unless the session is null. */
export type Opener = (
  place: { readonly server: DashboardServer; readonly session: Session | null },
  path: string,
  options?: BrowserContextOptions,
) => Promise<Visit>;

/** Starts a browser for the tests of a file, as `browserVisits` does. */
export function dashboardVisits(): Opener {
  const visit = browserVisits();
  return async ({ server, session }, path, options) => {
    const visited = await visit(server.url, {
      ...(session === null ? {} : { storageState: session.signedIn }),
      ...options,
    });
    const basePath = new URL(server.url).pathname.replace(/\/$/, '');
    for (const asked of ['/api/', '/assets/', '/favicon.svg'])
      visited.troubles.ignoreGivenUp(`GET ${basePath}${asked}`);
    await visited.page.goto(path);
    return visited;
  };
}
