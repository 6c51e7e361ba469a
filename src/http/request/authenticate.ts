/** Checks the API key of a request, and finds its project. Every request below `/v1` starts with this. */
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { CallerStatsError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import { REFUSALS, type RefusalReason } from '../../domain/ingestion/refusals.js';
import {
  type ApiKey,
  hashKey,
  type KeyStatus,
  type KeyType,
  keyStatus,
  parseKeyType,
  type Scope,
} from '../../domain/keys/api-key.js';
import { isExpiringSoon } from '../../domain/keys/key-lifetime.js';
import { createNetworks } from '../../domain/keys/networks.js';
import { lastUsedIntervalMs } from '../../domain/limits.js';
import { isProjectId, type Project } from '../../domain/projects/project.js';
import { failure, type Result, success } from '../../domain/result.js';
import type { Clock } from '../../domain/time/clock.js';
import { BoundedCache } from '../../shared/bounded-cache.js';
import { OutdatedAccess } from '../../storage/ports/counts.js';
import type { Access, AccessProof, Store } from '../../storage/ports/store.js';
import type { FailureLimit, RateLimit } from '../admission/rate-limits.js';
import { HttpError, noSuchProject, unauthenticated } from '../server/errors.js';
import { EXPIRY_HEADER, getClientAddress, PROJECT_HEADER } from './target.js';

const sentKeysMax = 1000;
const allowlistsMax = 1000;
const accessesMax = 1000;

/** The longest body of a request that is authorized with what an earlier one found. */
const provedLaterBytesMax = 64 * 1024;

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

/** What a request needs of its key. */
interface Rights {
  readonly allowed: readonly KeyType[];
  readonly needed: Scope;
}

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
  /** What the store found last for keys that recorded into projects. Each has a proof. */
  readonly #accesses = new BoundedCache<string, Access>(accessesMax);

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
    this.#open(request, projectId === undefined ? await this.#withBoundProject(access) : access);
  }

  /**
   * As `authorize`, but where the store can, with what it found for an earlier request: it is asked whether that is still so when it
   * records, which saves a look-up. Until then, only `record` may answer, and each error goes through `prove`. Returns undefined when it is done.
   */
  authorizeRecording(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string,
    allowed: readonly KeyType[],
  ): Promise<void> | undefined {
    const known = this.#knownAccess(request, projectId, allowed);
    if (known?.proof === undefined) return this.#authorizeAnew(request, reply, projectId, allowed);
    request.unproved = { key: known.key, projectId, allowed, proof: known.proof };
    const waiting = this.#require(request, reply, known, { allowed, needed: 'write' });
    if (waiting !== undefined) return waiting.then(() => this.#open(request, known));
    this.#open(request, known);
    return undefined;
  }

  /** As `authorize`, and notes for later requests what was found. */
  async #authorizeAnew(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string,
    allowed: readonly KeyType[],
  ): Promise<void> {
    const access = await this.#admit(request, reply, projectId, { allowed, needed: 'write' });
    this.#open(request, access);
    if (access.proof !== undefined) this.#accesses.set(nameOfAccess(access.proof.keyHash, projectId), access);
  }

  /**
   * Runs `work`, which records with the proof, if there is one. If that does not hold, again with what is found now, and so if `work` finds the
   * request invalid: the settings of the project may be others now.
   */
  async record<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (proof: AccessProof | undefined) => Promise<T>,
  ): Promise<T> {
    const { unproved } = request;
    if (unproved === null) return work(undefined);
    try {
      const result = await work(unproved.proof);
      this.#touch(unproved.key, this.#options.clock.now());
      return result;
    } catch (error) {
      const isInvalid = error instanceof CallerStatsError && error.code === 'invalid';
      if (!(isInvalid || error instanceof OutdatedAccess)) throw error;
    }
    await this.prove(request, reply);
    return work(undefined);
  }

  /** Throws what `authorize` would have thrown. */
  async prove(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { unproved } = request;
    if (unproved === null) return;
    const { key, projectId, allowed, proof } = unproved;
    Object.assign(request, { unproved: null, key: null, project: null, refusal: null });
    this.#accesses.delete(nameOfAccess(proof.keyHash, projectId));
    reply.removeHeader(EXPIRY_HEADER);
    await this.#options.requests.giveBack(key.organizationId, reply);
    await this.#authorizeAnew(request, reply, projectId, allowed);
  }

  #open(request: FastifyRequest, access: Access): void {
    const { key } = access;
    const project = projectOpenTo(access);
    if (project === undefined) {
      request.refusal = { reasons: ['other-project'], key, projectId: key.projectId };
      throw noSuchProject();
    }
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
    rights: Rights,
  ): Promise<Access> {
    const access = await this.#findAccess(request, reply, projectId, rights.allowed);
    await this.#require(request, reply, access, rights);
    this.#touch(access.key, this.#options.clock.now());
    return access;
  }

  /** Checks the address and the scope of a key that is valid, and counts it for its limit. Returns undefined when it is done. */
  #require(
    request: FastifyRequest,
    reply: FastifyReply,
    access: Access,
    rights: Rights,
  ): Promise<void> | undefined {
    const { key } = access;
    request.key = key;
    const { requests } = this.#options;
    // Before the limit, which a stranger with the key could use up for the whole organization.
    if (!this.#isAllowedAddress(key, request)) {
      noteRefusal(request, access, 'key-address');
      throw new HttpError(403, 'The API key may not be used from this address.');
    }
    if (requests.isLimited) {
      // Overwritten by the next reason.
      noteRefusal(request, access, 'rate-limit');
      return requests.consume(key.organizationId, reply).then(() => {
        request.refusal = null;
        this.#requireScope(request, reply, access, rights);
      });
    }
    this.#requireScope(request, reply, access, rights);
    return undefined;
  }

  #requireScope(
    request: FastifyRequest,
    reply: FastifyReply,
    access: Access,
    { allowed, needed }: Rights,
  ): void {
    const { key } = access;
    const missing = missingScope(key, needed);
    if (missing !== undefined) {
      noteRefusal(request, access, 'key-scope');
      throw new HttpError(403, missing);
    }
    if (allowed.includes('recording') && isExpiringSoon(key.expiresAt, this.#options.clock.now()))
      reply.header(EXPIRY_HEADER, formatTime(key.expiresAt));
  }

  /** Counts more requests for the rate limit of an organization, or of who else sends. Throws 429 above it. */
  async countMore(who: string, reply: FastifyReply, count: number): Promise<void> {
    if (count > 0) await this.#options.requests.consume(who, reply, { count });
  }

  /** Counts a failure of the client's address. Throws 429 above the limit. */
  countFailure(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    return this.#options.failures.consume(getClientAddress(request), reply);
  }

  async #withBoundProject({ key }: Access): Promise<Access> {
    const { organizationId, projectId } = key;
    if (projectId !== null)
      return { key, project: await this.#options.store.directory.findProject(organizationId, projectId) };
    throw new CallerStatsError(
      'invalid',
      `An admin key opens every project of its organization: name one in the header ${PROJECT_HEADER}, or send a recording key.`,
    );
  }

  /** What opened the project to the key of the request before, unless it certainly does not any more. */
  #knownAccess(
    { headers }: FastifyRequest,
    projectId: string,
    allowed: readonly KeyType[],
  ): Access | undefined {
    const sent = this.#sentKeys.get(headers.authorization);
    // Nobody whose key has been revoked makes the server read much.
    const isSmall = Number(headers['content-length']) <= provedLaterBytesMax && headers.expect === undefined;
    if (!(sent?.ok && isSmall)) return undefined;
    const known = this.#accesses.get(nameOfAccess(sent.value.hash, projectId));
    return findFault(sent, known, allowed, this.#options.clock.now()) === undefined ? known : undefined;
  }

  /** Throws 429 instead of 401 for an address with too many failures. */
  async #findAccess(
    request: FastifyRequest,
    reply: FastifyReply,
    projectId: string,
    allowed: readonly KeyType[],
  ): Promise<Access> {
    const { store, clock, failures } = this.#options;
    const { authorization } = request.headers;
    const sent = this.#sentKeys.get(authorization) ?? parseKey(authorization);
    // An invalid id is not looked up: a store might truncate it to a valid one.
    const named = isProjectId(projectId) ? projectId : '';
    const isRecording = allowed.includes('recording');
    // Of a wrong type, only that of a sender is worth finding: its project hears of it.
    const isLookedUp = sent.ok && (allowed.includes(sent.value.type) || isRecording);
    const found = isLookedUp
      ? await store.directory.findAccess(sent.value.hash, named, isRecording)
      : undefined;
    const fault = findFault(sent, found, allowed, clock.now());
    if (fault === undefined && found !== undefined) {
      this.#sentKeys.set(authorization, sent);
      return found;
    }
    const { reason, message } = fault ?? UNKNOWN;
    if (found !== undefined) noteRefusal(request, found, reason);
    await failures.consume(getClientAddress(request), reply);
    // After the limit, so that it holds for what strangers have counted.
    if (found === undefined)
      request.refusal = { reasons: ['key-unknown'], key: null, projectId: named || null };
    throw unauthenticated(message);
  }

  #isAllowedAddress({ allow }: ApiKey, request: FastifyRequest): boolean {
    if (allow.length === 0) return true;
    const isAllowed = this.#allowlists.getOrCreate(allow.join(), () => createNetworks(allow));
    return isAllowed(getClientAddress(request));
  }

  /** Stores the time of use now and then, without delaying the request. */
  #touch(key: ApiKey, nowMs: number): void {
    const touchedAt = this.#touchedAt.get(key.id) ?? key.lastUsedAt;
    if (touchedAt !== null && Math.abs(nowMs - touchedAt) < lastUsedIntervalMs) return;
    this.#touchedAt.set(key.id, nowMs);
    this.#options.store.directory.touchKey(key.id, nowMs).catch((error: unknown) => {
      this.#options.log.warn({ err: error, keyId: key.id }, 'could not store the last use of a key');
    });
  }
}

/** Says of the request why it is refused, for those whose key it is. */
function noteRefusal(request: FastifyRequest, access: Access, reason: RefusalReason): void {
  const { key } = access;
  request.refusal = { reasons: [reason], key, projectId: projectOpenTo(access)?.id ?? key.projectId };
}

function nameOfAccess(keyHash: string, projectId: string): string {
  return `${keyHash} ${projectId}`;
}

interface Fault {
  readonly reason: RefusalReason;
  readonly message: string;
}

const UNKNOWN: Fault = { reason: 'key-unknown', message: 'The API key is unknown.' };

/** Why the key does not count. Only those who have the secret of a key learn its state. */
function findFault(
  sent: Result<SentKey>,
  access: Access | undefined,
  allowed: readonly KeyType[],
  nowMs: number,
): Fault | undefined {
  if (!sent.ok) return { reason: 'key-unknown', message: sent.problems.join(' ') };
  const { type } = sent.value;
  if (!allowed.includes(type)) {
    const needed = allowed.join(' or ');
    const message = `This needs an API key of type ${needed}; the one sent is of type ${type}.`;
    return { reason: 'key-type', message };
  }
  if (access === undefined) return UNKNOWN;
  const status = keyStatus(access.key, nowMs);
  return status === 'active' ? undefined : faultOf(access.key, status, allowed.includes('recording'));
}

/** A key expires without anybody's doing, so its senders hear since when, and what to do. */
function faultOf({ expiresAt }: ApiKey, status: Exclude<KeyStatus, 'active'>, isRecording: boolean): Fault {
  const reason = `key-${status}` as const;
  const message = `The API key is ${status}.`;
  if (status !== 'expired' || !isRecording) return { reason, message };
  return { reason, message: `${message} It ended at ${formatTime(expiresAt)}. ${REFUSALS[reason].remedy}` };
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
