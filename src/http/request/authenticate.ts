/** Checks the API key of a request, and finds its project. Every request below `/v1` starts with this. */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import {
  type ApiKey,
  hashKey,
  type KeyType,
  keyStatus,
  parseKeyType,
  type Scope,
} from '../../domain/keys/api-key.js';
import { createNetworks } from '../../domain/keys/networks.js';
import { lastUsedIntervalMs } from '../../domain/limits.js';
import { isProjectId, type Project } from '../../domain/projects/project.js';
import { failure, type Result, success } from '../../domain/result.js';
import type { Clock } from '../../domain/time/clock.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import type { Access, Store } from '../../storage/ports/store.js';
import type { FailureLimit, RateLimit } from '../admission/rate-limits.js';
import { HttpError, noSuchProject, unauthenticated } from '../server/errors.js';
import { getClientAddress, PROJECT_HEADER } from './target.js';

const sentKeysMax = 1000;
const allowlistsMax = 1000;

interface AuthenticatorOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Limits organizations. */
  readonly requests: RateLimit;
  /** Limits addresses whose requests fail to authenticate. */
  readonly failures: FailureLimit;
  readonly log: FastifyBaseLogger;
}

/** The types of keys that may read counts. */
export const READING_TYPES = ['admin', 'reading'] as const satisfies readonly KeyType[];

/** What a well-formed key says without the store. */
interface SentKey {
  readonly type: KeyType;
  readonly hash: string;
}

/** One for each app, because it remembers when keys were used. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  /** When the last use of each key was stored, by key id. */
  readonly #touchedAt = new Map<string, number>();
  readonly #allowlists = new BoundedCache<string, ReturnType<typeof createNetworks>>(allowlistsMax);
  /**
   * Keys that were valid, by the whole `Authorization` header. Lookup times reveal nothing: a map compares headers only if
   * their hashes, which have a secret seed, are equal.
   */
  readonly #sentKeys = new BoundedCache<string | undefined, Result<SentKey>>(sentKeysMax);

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Finds the key and the project of the request, which become fields of it. Checks in this order:
   * - the key: 401 if it is missing, malformed, not of an `allowed` type, unknown, expired, disabled or revoked
   * - its rights: 403 if the client's address is not in its allowlist, or the method needs another scope
   * - the project: 404 if it is unknown, of another organization, or not the one that the key is bound to. If the request
   *   names no project, it is the one that the key is bound to; 400 for a key that is bound to none.
   */
  async authorize(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string | undefined,
    allowed: readonly KeyType[],
  ): Promise<void> {
    const needed = request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write';
    const access = await this.#admit(request, reply, projectId ?? '', { allowed, needed });
    const { key } = access;
    const named = projectId === undefined ? { key, project: await this.#findBoundProject(key) } : access;
    const project = projectOpenTo(named);
    if (project === undefined) throw noSuchProject();
    request.project = project;
  }

  /** Checks the key and its rights as `authorize`, for a request that is about no single project. */
  async authenticate(
    request: FastifyRequest,
    reply: FastifyReply,
    allowed: readonly KeyType[],
    needed: Scope,
  ): Promise<void> {
    await this.#admit(request, reply, '', { allowed, needed });
  }

  /** Checks the key, its address and its scope, and notes its use. */
  async #admit(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string,
    { allowed, needed }: { readonly allowed: readonly KeyType[]; readonly needed: Scope },
  ): Promise<Access> {
    const access = await this.#findAccess(request, reply, projectId, allowed);
    const { key } = access;
    request.key = key;
    const { requests } = this.#options;
    if (requests.isLimited) await requests.consume(key.organizationId, reply);
    this.#requireAddress(key, request);
    const missing = missingScope(key, needed);
    if (missing !== undefined) throw new HttpError(403, missing);
    this.#touch(key, this.#options.clock.now());
    return access;
  }

  async #findBoundProject({ organizationId, projectId }: ApiKey): Promise<Project | undefined> {
    if (projectId !== null) return this.#options.store.directory.findProject(organizationId, projectId);
    throw new CallerStatsError(
      'invalid',
      `An admin key opens every project of its organization: name one in the header ${PROJECT_HEADER}, or send a recording key.`,
    );
  }

  /** Throws 429 instead of 401 for an address with too many failures. */
  async #findAccess(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string,
    allowed: readonly KeyType[],
  ): Promise<Access> {
    const { store, clock, failures } = this.#options;
    try {
      const { authorization } = request.headers;
      const sent = this.#parseSent(authorization, allowed);
      if (!sent.ok) throw unauthenticated(sent.problems.join(' '));
      // An invalid id is not looked up: a store might truncate it to a valid one.
      const found = await store.directory.findAccess(
        sent.value.hash,
        isProjectId(projectId) ? projectId : '',
      );
      const access = requireActive(found, clock.now());
      if (!access.ok) throw unauthenticated(access.problems.join(' '));
      this.#sentKeys.set(authorization, sent);
      return access.value;
    } catch (error) {
      if (error instanceof HttpError && error.status === 401)
        await failures.consume(getClientAddress(request), reply);
      throw error;
    }
  }

  /** What the header says, which must be a key of one of these types. */
  #parseSent(authorization: string | undefined, allowed: readonly KeyType[]): Result<SentKey> {
    const sent = this.#sentKeys.get(authorization) ?? parseKey(authorization);
    if (!sent.ok || allowed.includes(sent.value.type)) return sent;
    const needed = allowed.join(' or ');
    return failure(`This needs an API key of type ${needed}; the one sent is of type ${sent.value.type}.`);
  }

  #requireAddress({ allow }: ApiKey, request: FastifyRequest): void {
    if (allow.length === 0) return;
    const isAllowed = this.#allowlists.getOrCreate(allow.join(), () => createNetworks(allow));
    if (!isAllowed(getClientAddress(request)))
      throw new HttpError(403, 'The API key may not be used from this address.');
  }

  /** Stores the time of use now and then, without delaying the request. */
  #touch(key: ApiKey, nowMs: number): void {
    const touchedAt = this.#touchedAt.get(key.id) ?? key.lastUsedAt;
    if (touchedAt !== null && nowMs - touchedAt < lastUsedIntervalMs) return;
    this.#touchedAt.set(key.id, nowMs);
    this.#options.store.directory.touchKey(key.id, nowMs).catch((error: unknown) => {
      this.#options.log.warn({ err: error, keyId: key.id }, 'could not store the last use of a key');
    });
  }
}

/** Fails unless the key exists and is active. */
function requireActive(access: Access | undefined, nowMs: number): Result<Access> {
  if (access === undefined) return failure('The API key is unknown.');
  const status = keyStatus(access.key, nowMs);
  return status === 'active' ? success(access) : failure(`The API key is ${status}.`);
}

/** A recording key has none to check: it is sent only to operations that record, and may do all of them. */
const HAS_SCOPES: Readonly<Record<KeyType, boolean>> = { admin: true, reading: true, recording: false };

/** What is wrong if the key lacks the scope. */
function missingScope({ type, scopes }: ApiKey, needed: Scope): string | undefined {
  if (!HAS_SCOPES[type] || scopes.includes(needed)) return undefined;
  return `This needs an API key with the scope ${needed}; the one sent has ${scopes.join()}.`;
}

/** The project, unless the key is bound to another one. */
function projectOpenTo({ key, project }: Access): Project | undefined {
  return key.projectId === null || key.projectId === project?.id ? project : undefined;
}

/** RFC 6750, section 2.1; the scheme's case does not matter (RFC 9110, section 11.1). */
const BEARER = /^bearer +(\S+) *$/i;

function parseKey(authorization: string | undefined): Result<SentKey> {
  if (authorization === undefined)
    return failure('There is no API key; send it as "Authorization: Bearer <key>".');
  const secret = BEARER.exec(authorization)?.[1];
  if (secret === undefined)
    return failure('The Authorization header is malformed; send "Authorization: Bearer <key>".');
  const type = parseKeyType(secret);
  if (type === undefined)
    return failure('The API key is malformed: it is mistyped or cut, for its checksum does not fit.');
  return success({ type, hash: hashKey(secret) });
}
