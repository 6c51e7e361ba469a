import type { FastifyRequest } from 'fastify';
import { HttpError } from '../errors.js';

/** Names the project where the path has no room for it. A recording key needs no name: it is bound to one project. */
export const PROJECT_HEADER = 'caller-stats-project';

/** The project that the request's header names; undefined where it names none. */
export function projectIdInHeader(request: FastifyRequest): string | undefined {
  // Node joins what is sent more than once, and no id has a comma.
  return request.headers[PROJECT_HEADER]?.toString();
}

export function unnamedProject(): HttpError {
  return new HttpError(
    400,
    `An admin key opens every project of its organization: name one in the header ${PROJECT_HEADER}, or send a recording key.`,
  );
}
