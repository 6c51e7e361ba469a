/**
 * Counts what happens to accounts, and writes sign-ins and failures into the audit log. Of the failures of a user, the log has
 * one entry for each limit and window, so that a flood cannot fill the database; the metrics count all.
 */
import { guessWindowSeconds } from '../domain/limits.js';
import type { AuditAction } from '../domain/people/audit.js';
import type { Clock } from '../domain/time/clock.js';
import { secondMs } from '../domain/time/duration.js';
import type { Directory } from '../storage/ports/directory.js';
import type { Throttles } from '../storage/ports/throttles.js';
import type { Secrets } from './secrets.js';

/** What the metrics count. */
export const ACCOUNT_EVENTS = [
  'sign_in',
  'failure',
  'lockout',
  'busy',
  'password_reset',
  'session_end',
  'trust',
  'passkey_add',
  'passkey_remove',
  'passkey_use',
] as const;

export type AccountEvent = (typeof ACCOUNT_EVENTS)[number];

export interface AccountMetrics {
  accountEvent(event: AccountEvent): void;
}

/** The author of attempts: nobody who has proved who they are. */
export const STRANGER = 'not signed in';

const RECORDED = {
  failure: 'user.sign_in_failure',
  lockout: 'user.lockout',
} as const satisfies Partial<Record<AccountEvent, AuditAction>>;

interface SignInLogOptions {
  readonly store: {
    readonly directory: Pick<Directory, 'logUserChange'>;
    readonly throttles: Pick<Throttles, 'take'>;
  };
  readonly clock: Clock;
  readonly metrics: AccountMetrics | undefined;
  readonly secrets: () => Promise<Secrets>;
}

export class SignInLog {
  readonly #options: SignInLogOptions;

  constructor(options: SignInLogOptions) {
    this.#options = options;
  }

  count(event: AccountEvent): void {
    this.#options.metrics?.accountEvent(event);
  }

  /** Counts a sign-in, and writes it into the audit log. */
  async signedIn({
    email,
    address,
    how,
  }: {
    readonly email: string;
    readonly address: string | null;
    /** The kind of proof. */
    readonly how: string;
  }): Promise<void> {
    this.count('sign_in');
    const { store, clock } = this.#options;
    const by = { name: email, address, at: clock.now() };
    await store.directory.logUserChange(email, { action: 'user.sign_in', detail: how }, by);
  }

  /** Counts an attempt that failed or was blocked, and writes it into the audit log unless one of the same kind was written. */
  async record(
    event: keyof typeof RECORDED,
    {
      email,
      address,
      detail,
    }: { readonly email: string; readonly address: string | null; readonly detail: string },
  ): Promise<void> {
    this.count(event);
    const { store, clock, secrets } = this.#options;
    const at = clock.now();
    // Signed, so that the store has no addresses of people.
    const key = (await secrets()).sign('sign-in log', `${event} ${detail} of ${email}`);
    const limit = { attemptsMax: 1, windowMs: guessWindowSeconds * secondMs };
    if (!(await store.throttles.take(key, limit, at)).isAllowed) return;
    const change = { action: RECORDED[event], detail };
    await store.directory.logUserChange(email, change, { name: STRANGER, address, at });
  }
}
