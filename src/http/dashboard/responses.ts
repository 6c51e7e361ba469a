/**
 * The response types of the dashboard API. The routes return them and the dashboard imports them, so neither side can
 * change a response alone. Counts, series and callers are those of the public API (`domain/counting`).
 */
import type {
  DeliveryJson,
  invitationToJson,
  KeyJson,
  memberToJson,
  NotificationJson,
  ProjectJson,
  shareLinkToJson,
} from '../../app/json.js';
import type { MailResult } from '../../app/notifications/link-mail.js';
import type { PasskeyProblem, RequestOptions } from '../../auth/passkeys/relying-party.js';
import type { KeyType } from '../../domain/keys/api-key.js';
import type { AuditEntry } from '../../domain/people/audit.js';
import type { Role } from '../../domain/people/member.js';
import type { SecondFactorRule } from '../../domain/projects/organization.js';
import type { ShareLinkRule } from '../../domain/projects/share-link.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import type { TimeZone } from '../../domain/time/time-zone.js';

export type { KeyJson as KeyResponse, ProjectJson as ProjectResponse } from '../../app/json.js';
export type { IngestionReport as IngestionResponse } from '../../domain/ingestion/report.js';
export type { Summaries as SummariesResponse } from '../../domain/projects/summary.js';

export interface ProjectsResponse {
  readonly projects: readonly ProjectJson[];
}

/** The newest imports that brought queries of earlier days. */
export interface ImportsResponse {
  readonly imports: readonly {
    /** The start of the UTC day on which it arrived. */
    readonly day: string;
    /** `import:` and the names of its files, or `counts:` and the source of imported counts. */
    readonly sender: string;
    /** The first and the last moment of what it brought. */
    readonly first: string;
    readonly last: string;
  }[];
}

export interface CreatedKeyResponse {
  readonly key: KeyJson;
  /** The key itself. No other response contains it. */
  readonly secret: string;
}

/** The time zones to select from. Their other names, as of older browsers, are also accepted. */
export interface ZonesResponse {
  readonly names: readonly TimeZone[];
}

export type MemberResponse = Readonly<ReturnType<typeof memberToJson>> & {
  /** The name of the account; null until the member has one. */
  readonly name: string | null;
  /** Whether the member has a second factor; null for readers who are not owners. */
  readonly secondFactor: boolean | null;
  readonly you: boolean;
};

/** After a member was removed or got another role. */
export interface DismissalResponse {
  /** Admin keys that the member created and that still work, if the member may not manage keys any more. */
  readonly keys: readonly KeyJson[];
}

/** After all sessions of a member were ended. */
export interface EndedSessionsResponse {
  /** How many there were. */
  readonly ended: number;
}

export type InvitationResponse = Readonly<ReturnType<typeof invitationToJson>>;

export interface CreatedInvitationResponse {
  readonly invitation: InvitationResponse;
  /** The token of the link. No other response contains it. */
  readonly token: string;
  readonly mail: MailResult;
}

export type ShareLinkResponse = Readonly<ReturnType<typeof shareLinkToJson>>;

export interface ShareLinksResponse {
  readonly links: readonly ShareLinkResponse[];
}

export interface CreatedShareLinkResponse {
  readonly link: ShareLinkResponse;
  /** The token of its address. No other response contains it. */
  readonly token: string;
}

/** What the page of a share link shows of the project. */
export interface SharedProjectResponse {
  readonly name: string;
  readonly timeZone: string | null;
  readonly weekStart: WeekStart | null;
  /** Whether the link serves CSV: only without a password. */
  readonly servesCsv: boolean;
}

/** The proof that somebody has typed the password of a share link. */
export interface ShareTicketResponse {
  readonly ticket: string;
}

/** An invitation, for the invited person. */
export interface OfferResponse {
  readonly organization: { readonly id: string; readonly name: string };
  readonly role: Role;
  readonly invitedBy: string;
  readonly expiresAt: string;
}

/** What the holder of an invitation link sees before joining. */
export interface InvitationPreviewResponse extends OfferResponse {
  readonly email: string;
  readonly hasAccount: boolean;
}

export interface NotificationsResponse {
  readonly notifications: readonly NotificationJson[];
  /** The newest ones, newest first. */
  readonly deliveries: readonly DeliveryJson[];
  /** Whether the server sends e-mail. */
  readonly sendsEmail: boolean;
}

export interface SavedNotificationResponse {
  readonly notification: NotificationJson;
  /** Signs the messages of a new webhook. No other response contains it. */
  readonly secret: string | null;
}

export interface AuditResponse {
  readonly entries: readonly (Omit<AuditEntry, 'at'> & { readonly at: string })[];
  /** Whether there are older entries. */
  readonly more: boolean;
}

/** What every page loads first. */
export interface StartResponse {
  readonly session: SessionResponse;
  /** The projects of each organization of the user, by the organization's id. */
  readonly projects: Readonly<Record<string, ProjectsResponse>>;
}

export interface SessionResponse {
  /** Null for a visitor who is not signed in. */
  readonly user: {
    readonly email: string;
    readonly name: string;
    readonly hasPassword: boolean;
    /** Whether signing in needs a second factor: codes, or a passkey. */
    readonly secondFactor: boolean;
    /** Whether the user has codes of an authenticator app. */
    readonly codes: boolean;
    /** The id of this session. */
    readonly session: string;
  } | null;
  readonly organizations: readonly {
    readonly id: string;
    readonly name: string;
    readonly role: Role;
    /** Of a reader, the ids of the projects that they may read. */
    readonly projects?: readonly string[];
    readonly secondFactor: SecondFactorRule;
    /** Whether it requires a second factor that the user does not have: until then, all its paths respond \`403\`. */
    readonly locked: boolean;
  }[];
  /** Invitations to this address, if a provider has proved it; the links of all others prove it themselves. */
  readonly invitations: readonly (OfferResponse & { readonly id: string })[];
  /** The version of the server. Visitors who are not signed in do not learn it. */
  readonly version?: string;
  /** Whether the server has no account yet and waits for its set-up link to be opened. */
  readonly setUp: boolean;
  /** Why the server has no passkeys, if it has none. */
  readonly passkeyProblem: PasskeyProblem | null;
  readonly singleSignOn: boolean;
  /** Whether people who forgot their password get a link by e-mail. */
  readonly resetMails: boolean;
  readonly shareLinks: ShareLinkRule;
  readonly keys: {
    readonly prefix: string;
    /** Maximum lifetime of a key in days; null for no limit. */
    readonly lifeDaysMax: number | null;
    readonly expiryDays: readonly number[];
    /** `90d` or `never`: a choice of `expiryDays`, or `never`. */
    readonly expiryDefaults: Readonly<Record<KeyType, string>>;
    readonly graceDaysMax: number;
  };
}

/** A session of the signed-in user. */
export interface DeviceResponse {
  readonly id: string;
  /** Whether it is the session that asks. */
  readonly current: boolean;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** An application that asks to read in the name of the person. */
export interface AskedResponse {
  readonly name: string;
  /** The host that the person returns to, or the app and its scheme. */
  readonly returnsTo: string;
  /** Where to return to if the request of the application is invalid. */
  readonly redirect: string | null;
}

export interface ApplicationResponse {
  readonly id: string;
  readonly name: string;
  readonly address: string | null;
  readonly usedAt: string;
}

/** A device on which the signed-in user needs no second factor. */
export interface TrustedDeviceResponse {
  readonly id: string;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** When it was trusted, or last signed in. */
  readonly usedAt: string;
  readonly expiresAt: string;
}

/** A passkey of the signed-in user. */
export interface PasskeyResponse {
  readonly id: string;
  readonly name: string;
  /** The host that it works for. */
  readonly host: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** What the second step of signing in may be answered with. */
export interface SecondStepResponse {
  /** Codes of an authenticator app, and backup codes. */
  readonly codes: boolean;
  /** The options for the browser; null if the user has no passkey for this address. */
  readonly passkey: RequestOptions | null;
}

export interface TwoFactorSetupResponse {
  readonly uri: string;
  readonly secret: string;
  readonly backupCodes: readonly string[];
}
