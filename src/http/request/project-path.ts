import type { FastifyRequest } from 'fastify';

/** The `{projectId}` of the request's path, percent-decoded. */
export function projectIdOf(request: FastifyRequest): string {
  return (request.params as { projectId: string }).projectId;
}
