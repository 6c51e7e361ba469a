/** What the main thread asks of the writer thread. All of it can be structurally cloned. */
import type { ApiKey } from '../../domain/api-key.js';
import type { Organization, Project } from '../../domain/project.js';

/** A batch of queries by columns, which are cheaper to send between threads than an object a query. */
export interface RecordOperation {
  readonly kind: 'record';
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly callers: readonly string[];
  readonly occurredAt: Float64Array;
}

export type Operation =
  | RecordOperation
  | { readonly kind: 'createOrganization'; readonly organization: Organization }
  | { readonly kind: 'createProject'; readonly project: Project }
  | { readonly kind: 'createKey'; readonly key: ApiKey }
  | {
      readonly kind: 'revokeKey';
      readonly organizationId: string;
      readonly keyId: string;
      readonly revokedAt: number;
    }
  | { readonly kind: 'touchKey'; readonly keyId: string; readonly usedAt: number };
