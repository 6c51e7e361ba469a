/** What the main thread asks of the writer thread. All of it can be structurally cloned. */
import type { ApiKey } from '../../../domain/keys/api-key.js';
import type { Actor, AuditAction } from '../../../domain/people/audit.js';
import type { Invitation } from '../../../domain/people/invitation.js';
import type { Member, Role } from '../../../domain/people/member.js';
import type { NewProject, Organization, ProjectChange } from '../../../domain/projects/project.js';
import type { KeyChange } from '../../ports/store.js';
import type { AttemptLimit } from '../../ports/throttles.js';

/** A batch of queries by columns, which are cheaper to send between threads than an object a query. */
export interface RecordOperation {
  readonly kind: 'record';
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly callers: readonly string[];
  readonly occurredAt: Float64Array;
}

/** A change that is written into the audit log. */
export type ManagementOperation = { readonly by: Actor } & (
  | { readonly kind: 'createOrganization'; readonly organization: Organization }
  | { readonly kind: 'createProject'; readonly project: NewProject }
  | {
      readonly kind: 'changeProject';
      readonly organizationId: string;
      readonly projectId: string;
      readonly change: ProjectChange;
    }
  | { readonly kind: 'deleteProject'; readonly organizationId: string; readonly projectId: string }
  | { readonly kind: 'createKey'; readonly key: ApiKey }
  | {
      readonly kind: 'changeKey';
      readonly organizationId: string;
      readonly keyId: string;
      readonly change: KeyChange;
    }
  | {
      readonly kind: 'rotateKey';
      readonly organizationId: string;
      readonly keyId: string;
      readonly successor: ApiKey;
      readonly expiresAt: number;
    }
  | { readonly kind: 'revokeLeakedKey'; readonly keyHash: string }
  | { readonly kind: 'addMember'; readonly member: Member }
  | {
      readonly kind: 'changeMember';
      readonly organizationId: string;
      readonly email: string;
      readonly role: Role;
    }
  | { readonly kind: 'removeMember'; readonly organizationId: string; readonly email: string }
);

/** What `PeopleChanges` does. */
export type PeopleOperation =
  | { readonly kind: 'createInvitation'; readonly invitation: Invitation; readonly by: Actor }
  | {
      readonly kind: 'revokeInvitation';
      readonly organizationId: string;
      readonly invitationId: string;
      readonly by: Actor;
    }
  | {
      readonly kind: 'acceptInvitation';
      readonly tokenHash: string;
      readonly email: string;
      readonly by: Actor;
    }
  | { readonly kind: 'acceptInvitationsOf'; readonly email: string; readonly by: Actor }
  | {
      readonly kind: 'logUserChange';
      readonly email: string;
      readonly action: AuditAction;
      readonly detail: string;
      readonly by: Actor;
    }
  | { readonly kind: 'keepSecret'; readonly name: string; readonly proposed: string }
  | { readonly kind: 'userStatement'; readonly sql: string; readonly parameters: readonly unknown[] };

/** What `runThrottleOperation` does. */
export type ThrottleOperation = { readonly key: string } & (
  | { readonly kind: 'takeAttempt'; readonly limit: AttemptLimit; readonly nowMs: number }
  | { readonly kind: 'giveBackAttempt'; readonly resetsAt: number }
  | { readonly kind: 'resetAttempts' }
);

export type Operation =
  | RecordOperation
  | ManagementOperation
  | PeopleOperation
  | ThrottleOperation
  | { readonly kind: 'touchKey'; readonly keyId: string; readonly usedAt: number }
  | { readonly kind: 'pruneAudit'; readonly before: number }
  | { readonly kind: 'purgeDeleted'; readonly limit: number }
  | { readonly kind: 'applyRetention'; readonly nowMs: number; readonly limit: number };
