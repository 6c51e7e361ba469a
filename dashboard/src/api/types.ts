/** The server's types under the names that the dashboard uses. Times are RFC 3339 in UTC. */
import type { Numbers } from '../../../src/app/reading/numbers.js';
import type {
  AuditResponse,
  IngestionResponse,
  SessionResponse,
} from '../../../src/http/dashboard/responses.js';

export type { CorrectionPage, ShownCorrection as Correction } from '../../../src/app/corrections.js';
export type { Changes } from '../../../src/app/reading/changes.js';
export type { Numbers } from '../../../src/app/reading/numbers.js';
export type { WeekHours } from '../../../src/app/reading/week-hours.js';
export type { Comparison, Interval, Period } from '../../../src/domain/calendar/names.js';
export type { Counts } from '../../../src/domain/counting/counts.js';
export type { CutBounds } from '../../../src/domain/counting/cut-bounds.js';
export type { Series } from '../../../src/domain/counting/series.js';
export type { KeyType, Scope } from '../../../src/domain/keys/api-key.js';
export type { Role } from '../../../src/domain/people/member.js';
export type { CallerType } from '../../../src/domain/queries/caller.js';
export type { TelemetrySetting } from '../../../src/domain/queries/telemetry-settings.js';
export type { WeekStart } from '../../../src/domain/time/calendar.js';
export type {
  ApplicationResponse as ConnectedApplication,
  AskedResponse as AskedApplication,
  AuditResponse as AuditPage,
  CreatedInvitationResponse as CreatedInvitation,
  CreatedKeyResponse as KeyWithSecret,
  CreatedShareLinkResponse as CreatedShareLink,
  DeviceResponse as SignedInDevice,
  DismissalResponse as Dismissal,
  EndedSessionsResponse as EndedSessions,
  ImportsResponse as Imports,
  IngestionResponse as Ingestion,
  InvitationPreviewResponse as InvitationPreview,
  InvitationResponse as Invitation,
  KeyResponse as Key,
  MemberResponse as Member,
  PasskeyResponse as Passkey,
  ProjectResponse as Project,
  ProjectsResponse as Projects,
  SecondStepResponse as SecondStep,
  SessionResponse as Session,
  SharedProjectResponse as SharedProject,
  ShareLinkResponse as ShareLink,
  ShareLinksResponse as ShareLinks,
  ShareTicketResponse as ShareTicket,
  StartResponse as Start,
  SummariesResponse as Summaries,
  TrustedDeviceResponse as TrustedDevice,
  TwoFactorSetupResponse as TwoFactorSetup,
  ZonesResponse as Zones,
} from '../../../src/http/dashboard/responses.js';

export type User = NonNullable<SessionResponse['user']>;
export type KeyRules = SessionResponse['keys'];
export type Organization = SessionResponse['organizations'][number];
export type Offer = SessionResponse['invitations'][number];
export type AuditEntry = AuditResponse['entries'][number];
export type IngestionSource = IngestionResponse['sources'][number];
export type IngestionWindow = IngestionSource['lastDay'];
export type Bucket = Numbers['buckets'][number];

/** What proves again who the signed-in user is. Users of single sign-on have no password. */
export interface Proof {
  readonly password?: string;
  readonly code?: string;
  /** What a passkey signed. */
  readonly passkey?: unknown;
}
