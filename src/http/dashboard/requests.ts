/** What the dashboard's routes read from requests and write into responses. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { requireProject } from '../../app/projects.js';
import type { AuthProvider, AuthRequest, AuthResponse } from '../../auth/auth-provider.js';
import { ADDRESS_HEADER } from '../../auth/names.js';
import { findRelyingParty, type RelyingParty } from '../../auth/passkeys/relying-party.js';
import { isProjectId, type Project } from '../../domain/projects/project.js';
import { later } from '../../shared/later.js';
import type { Store } from '../../storage/ports/store.js';
import { getClientAddress, getParameter, getProjectId } from '../request/target.js';
import { HttpError, noSuchProject } from '../server/errors.js';

// Node loads the code of `fetch` when it makes the first such object.
later(async () => new Headers());

/** The request as the sign-in library reads it. Rate limits and the audit log use the same address. */
export function toAuthRequest(request: FastifyRequest): AuthRequest {
  const headers = new Headers({ [ADDRESS_HEADER]: getClientAddress(request) });
  for (const name of ['cookie', 'user-agent'] as const) {
    const value = request.headers[name];
    if (value !== undefined) headers.set(name, value);
  }
  return { headers, secure: request.protocol === 'https' };
}

/** The id in the request's path. `404` for an id that no project can have. */
export function getExistingId(request: FastifyRequest): string {
  const id = getProjectId(request);
  if (!isProjectId(id)) throw noSuchProject();
  return id;
}

/** The project in the request's path. `404` if the organization in the path has no such project. */
export async function getProject(store: Store, request: FastifyRequest): Promise<Project> {
  return requireProject(
    store,
    getParameter(request, 'organizationId'),
    getExistingId(request),
    noSuchProject,
  );
}

/** The origin of the page that sends the request, as the browser says; of the server, if it does not. */
export function originOf({ headers, protocol }: FastifyRequest): string {
  return headers.origin ?? `${protocol}://${headers.host}`;
}

/** What passkeys are created for at this address. `409` if there can be none. */
export function requireRelyingParty(
  { authProvider }: { readonly authProvider: Pick<AuthProvider, 'publicUrl'> },
  request: FastifyRequest,
): RelyingParty {
  const found = findRelyingParty(authProvider.publicUrl, originOf(request));
  if (!('problem' in found)) return found;
  throw new HttpError(
    409,
    found.problem === 'insecure'
      ? 'Passkeys work only over HTTPS, or on localhost, and not at an IP address.'
      : 'Passkeys need the setting --public-url.',
  );
}

/** Adds the sign-in library's cookies to those that the response sets already. */
export function setCookies(reply: FastifyReply, { cookies }: AuthResponse): void {
  for (const cookie of cookies) reply.header('set-cookie', cookie);
}

/** `204`. */
export function noContent(reply: FastifyReply): FastifyReply {
  return reply.code(204).send();
}

/** `201` with the new object. */
export function created<T extends object>(reply: FastifyReply, made: T): T {
  reply.code(201);
  return made;
}
