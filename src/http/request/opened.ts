/** Who sent a request, and what it has been authorized for. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RefusalReason } from '../../domain/ingestion/refusals.js';
import type { ApiKey, KeyType } from '../../domain/keys/api-key.js';
import type { Project } from '../../domain/projects/project.js';
import type { AccessProof } from '../../storage/ports/store.js';

/** Why a request was refused, and whom that concerns. */
interface RequestRefusal {
  readonly reasons: readonly RefusalReason[];
  /** The key that sent it, whatever its state; null if the server does not know it. */
  readonly key: ApiKey | null;
  /** A project of the key's organization. Without a key, whatever the request names. */
  readonly projectId: string | null;
}

/** What a request was authorized with that is still to be proved. */
interface Unproved {
  readonly key: ApiKey;
  readonly projectId: string;
  readonly allowed: readonly KeyType[];
  readonly proof: AccessProof;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null unless the request was authorized with what an earlier one found. */
    unproved: Unproved | null;
    /** The key that sent the request. Null until it was checked, and if the request needs none. */
    key: ApiKey | null;
    /** The id of the user whose session sent the request. Null without one. */
    userId: string | null;
    /** Whether that user may read single projects only. */
    isReader: boolean;
    /** The project that the request may read or change. Null until all rights were checked. */
    project: Project | null;
    /** Null unless the request was refused. */
    refusal: RequestRefusal | null;
  }
}

/** Adds the fields to all requests. Fields cost less than a weak map, whose entries outlive young objects. */
export function addOpenedFields(app: FastifyInstance): void {
  for (const field of ['unproved', 'key', 'userId', 'project', 'refusal']) app.decorateRequest(field, null);
  app.decorateRequest('isReader', false);
}

/** Whether the sender may read single projects only: nothing else of the organization exists for them. */
export function isBoundToProjects({ key, isReader }: FastifyRequest): boolean {
  return isReader || (key !== null && key.projectId !== null);
}

export function openedProject({ project }: FastifyRequest): Project {
  if (project === null) throw new Error('the request was not authorized for a project');
  return project;
}

export function sendingKey({ key }: FastifyRequest): ApiKey {
  if (key === null) throw new Error('the request was not authenticated');
  return key;
}
