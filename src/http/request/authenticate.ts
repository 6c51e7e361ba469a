/** Who is asking, and for which of their projects: the first thing that happens to a request under `/v1`. */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { type ApiKey, hashKey, type KeyType, keyStatus, parseKeyType } from '../../domain/keys/api-key.js';
import { createNetworks, type Networks } from '../../domain/keys/networks.js';
import { lastUsedIntervalMs } from '../../domain/limits.js';
import { isProjectId, type Project } from '../../domain/projects/project.js';
import type { Clock } from '../../domain/time/clock.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import type { Access, Store, SyncReads } from '../../storage/ports/store.js';
import type { RateLimit } from '../admission/rate-limits.js';
import { forbidden, HttpError, noSuchProject, unauthenticated } from '../errors.js';
import { getClientAddress, PROJECT_HEADER } from './target.js';

export interface AuthenticateOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Of each organization. */
  readonly requests: RateLimit;
  /** Of each address, for requests that fail to authenticate. */
  readonly failures: RateLimit;
  readonly log: FastifyBaseLogger;
}

const hashesMax = 1000;
const allowlistsMax = 1000;

/**
 * Checks a request's key and project, and throws 401, 403, 404 or 429. One for each app: it remembers when keys were
 * used.
 */
export class Authenticator {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #requests: RateLimit;
  readonly #failures: RateLimit;
  readonly #log: FastifyBaseLogger;
  /** When each key's use was last written down, by key id. As many entries as there are keys in use. */
  readonly #touchedAt = new Map<string, number>();
  readonly #allowlists = new BoundedCache<string, Networks>(allowlistsMax);
  /**
   * Hashes by the whole `Authorization` header, of admin keys that were good. Finding one in a map leaks no useful time:
   * texts are compared only where their hashes, whose seed nobody outside knows, are the same.
   */
  readonly #hashes = new BoundedCache<string, string>(hashesMax);

  constructor({ store, clock, requests, failures, log }: AuthenticateOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#requests = requests;
    this.#failures = failures;
    this.#log = log;
  }

  /**
   * The project that the request names, if its key may reach it. The key comes first, whatever the path says: 401
   * where it is missing, malformed, of another type than `allowed`, unknown, expired, disabled or revoked. Then what it
   * may do: 403 where the request comes from an address outside its allowlist, or its scopes do not have what the method
   * needs. Then the project: 404 where it does not exist, is another organization's, or is not the one the key is
   * bound to. Where the request names none (`projectId` undefined), it is the one that the key is bound to; 400 where
   * that is none.
   */
  async authorize(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string | undefined,
    allowed: readonly KeyType[],
  ): Promise<Project> {
    const access = await this.#findAccess(request, reply, projectId ?? '', allowed);
    const { key } = access;
    await this.#requests.consume(key.organizationId, reply);
    this.#requireAddress(key, getClientAddress(request));
    requireScope(key, request.method);
    this.#touch(key, this.#clock.now());
    const project = projectId === undefined ? await this.#projectBoundTo(key) : access.project;
    if (project === undefined || (key.projectId !== null && key.projectId !== project.id))
      throw noSuchProject();
    return project;
  }

  /**
   * Whether a request to read the counts of a project has nothing to be said about it but them: its key is an admin key
   * that works, reads, and may be used from anywhere as often as one likes. Where it has, `authorize` says what.
   */
  admits(authorization: string, projectId: string, reads: SyncReads, nowMs: number): boolean {
    if (this.#requests.isLimited) return false;
    const hash = this.#hashes.get(authorization) ?? hashAdminKey(authorization);
    const access = hash === undefined ? undefined : reads.findAccess(hash, projectId);
    if (hash === undefined || access?.project === undefined) return false;
    const { key } = access;
    if (keyStatus(key, nowMs) !== 'active' || key.allow.length > 0 || !key.scopes.includes('read'))
      return false;
    this.#hashes.set(authorization, hash);
    this.#touch(key, nowMs);
    return true;
  }

  async #projectBoundTo({ organizationId, projectId }: ApiKey): Promise<Project | undefined> {
    if (projectId === null) {
      throw new HttpError(
        400,
        `An admin key opens every project of its organization: name one in the header ${PROJECT_HEADER}, or send a recording key.`,
      );
    }
    return this.#store.findProject(organizationId, projectId);
  }

  /** A key that works. An address whose requests fail too often gets 429 for them, never for one with a good key. */
  async #findAccess(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string,
    allowed: readonly KeyType[],
  ): Promise<Access> {
    try {
      return await this.#authenticate(request, projectId, allowed);
    } catch (error) {
      if (error instanceof HttpError && error.status === 401)
        await this.#failures.consume(getClientAddress(request), reply);
      throw error;
    }
  }

  async #authenticate(
    request: FastifyRequest,
    projectId: string,
    allowed: readonly KeyType[],
  ): Promise<Access> {
    const secret = bearerToken(request.headers.authorization);
    requireType(parseKeyType(secret), allowed);
    // What cannot be an id is not looked up as one: a store might take a part of it for an id.
    const access = await this.#store.findAccess(hashKey(secret), isProjectId(projectId) ? projectId : '');
    if (access === undefined) throw unauthenticated('The API key is unknown.');
    const status = keyStatus(access.key, this.#clock.now());
    if (status !== 'active') throw unauthenticated(`The API key is ${status}.`);
    return access;
  }

  #requireAddress({ allow }: ApiKey, address: string): void {
    if (allow.length === 0) return;
    const networks = this.#allowlists.getOrCreate(allow.join(), () => createNetworks(allow));
    if (!networks.has(address)) throw forbidden('The API key may not be used from this address.');
  }

  /** Writes down that the key was used, now and then, without making the request wait or fail for it. */
  #touch(key: ApiKey, nowMs: number): void {
    const touchedAt = this.#touchedAt.get(key.id) ?? key.lastUsedAt;
    if (touchedAt !== null && nowMs - touchedAt < lastUsedIntervalMs) return;
    this.#touchedAt.set(key.id, nowMs);
    this.#store.touchKey(key.id, nowMs).catch((error: unknown) => {
      this.#log.warn({ err: error, keyId: key.id }, 'the last use of a key could not be written');
    });
  }
}

function hashAdminKey(authorization: string): string | undefined {
  const secret = BEARER.exec(authorization)?.[1];
  return secret !== undefined && parseKeyType(secret) === 'admin' ? hashKey(secret) : undefined;
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

/** Recording keys have no scopes to choose: their type says what they may. */
function requireScope({ type, scopes }: ApiKey, method: string): void {
  const needed = method === 'GET' || method === 'HEAD' ? 'read' : 'write';
  if (type === 'admin' && !scopes.includes(needed)) {
    throw forbidden(`This needs an API key with the scope ${needed}; the one sent has ${scopes.join()}.`);
  }
}

/** RFC 6750, section 2.1; the scheme's case does not matter (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+) *$/i;

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined) {
    throw unauthenticated('There is no API key; send it as "Authorization: Bearer <key>".');
  }
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) {
    throw unauthenticated('The Authorization header is malformed; send "Authorization: Bearer <key>".');
  }
  return token;
}
