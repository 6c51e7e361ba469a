/** The answers of the dashboard's API. Times are RFC 3339 in UTC. */

export type CallerType = 'web' | 'api' | 'other';
export type Interval = 'hour' | 'day' | 'week' | 'month';
export type Role = 'owner' | 'editor' | 'viewer';
export type Scope = 'read' | 'write';
export type KeyType = 'admin' | 'recording';
type KeyStatus = 'active' | 'expired' | 'disabled' | 'revoked';

export interface User {
  readonly email: string;
  readonly name: string;
  readonly hasPassword: boolean;
  readonly secondFactor: boolean;
  /** The id of this very session. */
  readonly session: string;
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

export interface KeyRules {
  readonly prefix: string;
  /** Longest life of a key in days; null where a key may live for ever. */
  readonly lifeDaysMax: number | null;
  readonly expiryDays: readonly number[];
  readonly expiryDaysDefault: number;
  readonly graceDaysMax: number;
}

export interface Session {
  readonly user: User | null;
  readonly organizations: readonly Organization[];
  /** Nobody can sign in yet: the one-time address is needed. */
  readonly setUp: boolean;
  readonly singleSignOn: { readonly name: string } | null;
  readonly version: string;
  readonly keys: KeyRules;
}

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly timeZone: string | null;
  readonly retentionDays: number | null;
  /** Single queries from before are gone; null where none ever were. */
  readonly rowsFrom?: string | null;
  readonly createdAt: string;
}

export interface Counts {
  readonly web: number;
  readonly api: number;
  readonly other: number;
  readonly total: number;
}

export interface Bucket extends Counts {
  /** With the zone's offset; the first and the last bucket are clipped to the range. */
  readonly start: string;
  readonly end: string;
}

export interface Series {
  readonly interval: Interval;
  readonly timeZone: string;
  readonly buckets: readonly Bucket[];
}

interface Caller {
  readonly caller: string;
  readonly type: CallerType;
  readonly count: number;
}

export interface Callers {
  readonly total: number;
  readonly callers: readonly Caller[];
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly type: KeyType;
  /** Null: every project of the organization. */
  readonly projectId: string | null;
  readonly start: string;
  readonly end: string;
  readonly scopes: readonly Scope[];
  readonly allow: readonly string[];
  readonly status: KeyStatus;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly disabledAt: string | null;
  readonly revokedAt: string | null;
  readonly successorId: string | null;
}

export interface KeyWithSecret {
  readonly key: Key;
  /** Shown once. */
  readonly secret: string;
}

export interface Member {
  readonly email: string;
  readonly role: Role;
  readonly createdAt: string;
  readonly name: string | null;
  readonly you: boolean;
}

export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface InvitationSeen {
  readonly organization: { readonly id: string; readonly name: string };
  readonly email: string;
  readonly role: Role;
  readonly invitedBy: string;
  readonly expiresAt: string;
  readonly hasAccount: boolean;
}

export interface AuditEntry {
  readonly number: number;
  readonly at: string;
  readonly actor: string;
  readonly address: string | null;
  readonly action: string;
  readonly targetId: string;
  readonly detail: string;
}

export interface SignedInDevice {
  readonly id: string;
  readonly current: boolean;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface SecondFactorStart {
  readonly uri: string;
  readonly secret: string;
  readonly backupCodes: readonly string[];
}
