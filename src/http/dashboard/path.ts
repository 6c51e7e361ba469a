import type { FastifyRequest } from 'fastify';

/** The `{organizationId}` of the request's path, percent-decoded. */
export function organizationIdOf(request: FastifyRequest): string {
  return (request.params as { organizationId: string }).organizationId;
}
