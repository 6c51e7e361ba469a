/** What the routes of the dashboard work with. */
import type { Clock } from '../../domain/clock.js';
import type { Store } from '../../storage/store.js';
import type { Credentials } from '../../users/credentials.js';
import type { Libraries } from '../../users/libraries.js';
import type { Users } from '../../users/users.js';
import type { BasePath } from '../base-path.js';
import type { GuessGuard } from './guess-guard.js';
import type { Doorkeeper } from './members-only.js';

export interface DashboardOptions {
  readonly libraries: Libraries;
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
  readonly door: Doorkeeper;
  readonly guard: GuessGuard;
}
