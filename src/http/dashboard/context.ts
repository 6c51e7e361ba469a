/** The dependencies of the dashboard's routes. */

import type { IngestionMonitor } from '../../app/jobs/ingestion-monitor.js';
import type { NotificationSetup } from '../../app/notifications/notifications.js';
import type { Applications } from '../../auth/applications/applications.js';
import type { AuthProvider } from '../../auth/auth-provider.js';
import type { Credentials } from '../../auth/credentials.js';
import type { Passkeys } from '../../auth/passkeys/passkeys.js';
import type { Users } from '../../auth/users.js';
import type { ShareLinkRule } from '../../domain/projects/share-link.js';
import type { Clock } from '../../domain/time/clock.js';
import type { Slots } from '../../shared/slots.js';
import type { Store } from '../../storage/ports/store.js';
import type { FailureLimit, RateLimit } from '../admission/rate-limits.js';
import type { BasePath } from '../request/base-path.js';
import type { RefusalLog } from '../server/refusal-log.js';
import type { SessionGuard } from './authorize.js';
import type { LoginThrottle } from './login-throttle.js';
import type { ResetMails } from './reset-mails.js';
import type { SharedLinks } from './shared-links.js';

/** What the operator sets. */
export interface DashboardSettings {
  /** The label of the single sign-on button; undefined without single sign-on. */
  readonly singleSignOn: boolean;
  /** The prefix of new keys. */
  readonly keyPrefix: string;
  /** The maximum lifetime of new keys in milliseconds; null for no limit. */
  readonly keyLifeMax: number | null;
  readonly shareLinks: ShareLinkRule;
  readonly randomInt: (max: number) => number;
  /** Left out, that of the limits. */
  readonly resetDelayMsMax?: number | undefined;
  /** The version of the server, for signed-in users. */
  readonly version: string;
  /** The folder of the built pages. */
  readonly pages: string;
}

export interface DashboardOptions extends DashboardSettings {
  readonly authProvider: AuthProvider;
  readonly applications: Applications;
  readonly store: Store;
  readonly ingestion: IngestionMonitor;
  /** In which long reports of members are made. */
  readonly slots: Slots;
  /** The server's texts, which apply to projects without their own. */
  readonly clock: Clock;
  readonly basePath: BasePath;
  /** Limits each person. */
  readonly requests: RateLimit;
  /** Limits addresses whose requests fail to authenticate. */
  readonly failures: FailureLimit;
  readonly refusals: RefusalLog;
  readonly notifications: NotificationSetup;
}

export interface Dashboard extends DashboardOptions {
  readonly users: Users;
  readonly credentials: Credentials;
  readonly passkeys: Passkeys;
  readonly sessionGuard: SessionGuard;
  readonly loginThrottle: LoginThrottle;
  readonly sharedLinks: SharedLinks;
  readonly resetMails: ResetMails;
}
