/** What the routes of the dashboard work with. */

import type { AuthProvider } from '../../auth/auth-provider.js';
import type { Credentials } from '../../auth/credentials.js';
import type { Users } from '../../auth/users.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Store } from '../../storage/ports/store.js';
import type { BasePath } from '../request/base-path.js';
import type { SessionGuard } from './authorize.js';
import type { LoginThrottle } from './login-throttle.js';

export interface DashboardOptions {
  readonly authProvider: AuthProvider;
  /** What the button of single sign-on says; undefined where there is none. */
  readonly singleSignOnName: string | undefined;
  /** The prefix of new keys. */
  readonly keyPrefix: string;
  /** The longest life of new keys in milliseconds; null for no bound. */
  readonly keyLifeMax: number | null;
  readonly randomInt: (max: number) => number;
  /** What stands before the paths of redirects and cookies. */
  readonly basePath: BasePath;
  /** This program's. */
  readonly version: string;
}

/** What the routes work with. */
export interface Dashboard extends DashboardOptions {
  readonly users: Users;
  readonly credentials: Credentials;
  readonly store: Store;
  readonly clock: Clock;
  readonly sessionGuard: SessionGuard;
  readonly loginThrottle: LoginThrottle;
}
