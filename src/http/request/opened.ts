/** Who sent a request, and what it has been authorized for. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Project } from '../../domain/projects/project.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The key that sent the request. Null until it was checked, and if the request needs none. */
    key: ApiKey | null;
    /** The id of the user whose session sent the request. Null without one. */
    userId: string | null;
    /** The project that the request may read or change. Null until all rights were checked. */
    project: Project | null;
  }
}

/** Adds the fields to all requests. Fields cost less than a weak map, whose entries outlive young objects. */
export function addOpenedFields(app: FastifyInstance): void {
  app.decorateRequest('key', null).decorateRequest('userId', null).decorateRequest('project', null);
}

export function openedProject({ project }: FastifyRequest): Project {
  if (project === null) throw new Error('the request was not authorized for a project');
  return project;
}

export function sendingKey({ key }: FastifyRequest): ApiKey {
  if (key === null) throw new Error('the request was not authenticated');
  return key;
}
