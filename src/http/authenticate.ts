/** Who is asking, and for which of their projects: the first thing that happens to a request under `/v1`. */
import type { FastifyRequest } from 'fastify';
import { type ApiKey, hashKey, type KeyType, keyStatus, keyTypeOf } from '../domain/api-key.js';
import type { Clock } from '../domain/clock.js';
import { lastUsedIntervalMs } from '../domain/limits.js';
import { isProjectId, type Project } from '../domain/project.js';
import type { Store } from '../storage/store.js';
import { noSuchProject, unauthenticated } from './errors.js';

export interface AuthenticateOptions {
  readonly store: Store;
  readonly clock: Clock;
}

/** Checks a request's key and project, and throws 401 or 404. One for each app: it remembers when keys were used. */
export class Authenticator {
  readonly #store: Store;
  readonly #clock: Clock;
  /** When each key's use was last written down, by key id. As many entries as there are keys in use. */
  readonly #touchedAt = new Map<string, number>();

  constructor({ store, clock }: AuthenticateOptions) {
    this.#store = store;
    this.#clock = clock;
  }

  /**
   * The project that the request names, if its key may reach it. The key comes first, whatever the path says: 401
   * where it is missing, malformed, of another type than `allowed`, unknown, expired or revoked. Then the project: 404
   * where it does not exist, is another organization's, or is not the one the key is bound to.
   */
  async projectOf(request: FastifyRequest, projectId: string, allowed: readonly KeyType[]): Promise<Project> {
    const secret = bearerToken(request.headers.authorization);
    requireType(keyTypeOf(secret), allowed);
    // What cannot be an id is not looked up as one: a store might take a part of it for an id.
    const access = await this.#store.findAccess(hashKey(secret), isProjectId(projectId) ? projectId : '');
    if (access === undefined) throw unauthenticated('The API key is unknown.');
    const { key, project } = access;
    const nowMs = this.#clock.now();
    const status = keyStatus(key, nowMs);
    if (status !== 'active') throw unauthenticated(`The API key is ${status}.`);
    this.#touch(key, nowMs, request);
    if (project === undefined || (key.projectId !== null && key.projectId !== project.id))
      throw noSuchProject();
    return project;
  }

  /** Writes down that the key was used, now and then, without making the request wait or fail for it. */
  #touch(key: ApiKey, nowMs: number, request: FastifyRequest): void {
    const touchedAt = this.#touchedAt.get(key.id) ?? key.lastUsedAt;
    if (touchedAt !== null && nowMs - touchedAt < lastUsedIntervalMs) return;
    this.#touchedAt.set(key.id, nowMs);
    this.#store.touchKey(key.id, nowMs).catch((error: unknown) => {
      request.log.warn({ err: error, keyId: key.id }, 'the last use of a key could not be written');
    });
  }
}

function requireType(type: KeyType | undefined, allowed: readonly KeyType[]): void {
  if (type === undefined) {
    throw unauthenticated('The API key is malformed: it is mistyped or cut, for its checksum does not fit.');
  }
  if (!allowed.includes(type)) {
    throw unauthenticated(
      `This needs an API key of type ${allowed.join(' or ')}; the one sent is of type ${type}.`,
    );
  }
}

/** RFC 6750, section 2.1; the scheme's case does not matter (RFC 9110, section 11.1). */
function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthenticated('There is no API key; send it as "Authorization: Bearer <key>".');
  }
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (token === undefined) {
    throw unauthenticated('The Authorization header is malformed; send "Authorization: Bearer <key>".');
  }
  return token;
}
