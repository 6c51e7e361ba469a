/** Making a key: what may be asked for, and the key that comes of it. */

import { keyNetworksMax, nameCharactersMax } from '../limits.js';
import type { Actor } from '../people/audit.js';
import { generateId, isName } from '../projects/project.js';
import { failure, type Result, success } from '../result.js';
import {
  type ApiKey,
  defaultScopes,
  generateKey,
  hashKey,
  type KeyType,
  parseScopes,
  type Scope,
  visibleEnds,
} from './api-key.js';
import { parseExpiryWithin, type Rotation } from './key-lifetime.js';
import { parseNetworks } from './networks.js';

export interface NewKey {
  /** A new one where it is left out. */
  readonly id?: string;
  readonly organizationId: string;
  /** Null for an admin key. */
  readonly projectId: string | null;
  readonly type: KeyType;
  readonly name: string;
  readonly expiresAt: number | null;
  /** All that its type may, where they are left out. */
  readonly scopes?: readonly Scope[];
  /** From anywhere, where it is left out. */
  readonly allow?: readonly string[];
}

/** A key as it is kept, and the key itself: show that, this once. */
export interface CreatedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

export interface KeyIssuer {
  /** The prefix of its keys. */
  readonly vendor: string;
  readonly by: Actor;
  /** A uniform integer in [0, max) from a cryptographic source. */
  readonly randomInt: (max: number) => number;
}

/** What somebody asks for, as they wrote it. */
export interface KeyRequest {
  readonly name: string;
  readonly type: KeyType;
  readonly project?: string | undefined;
  /** See `parseScopes`. */
  readonly scope?: string | undefined;
  readonly allow?: readonly string[] | undefined;
  /** See `parseExpiryWithin`. */
  readonly expires?: string | undefined;
}

/** Checks a wish. Each problem begins with the name of its field; `lifeMsMax` as for `parseExpiryWithin`. */
export function parseKeyRequest(
  { name, type, project, scope, allow = [], expires }: KeyRequest,
  { nowMs, lifeMsMax }: { readonly nowMs: number; readonly lifeMsMax: number | null },
): Result<Omit<NewKey, 'organizationId'>> {
  const problems: string[] = [];
  const check = <T>(field: string, result: Result<T>): T | undefined => {
    if (result.ok) return result.value;
    problems.push(...result.problems.map((problem) => `${field}: ${problem}`));
    return undefined;
  };
  if (!isName(name)) problems.push(`name: is not 1 to ${nameCharactersMax} visible characters`);
  if (type === 'recording' && project === undefined) problems.push('project: a recording key needs one');
  if (type === 'admin' && project !== undefined) {
    problems.push('project: an admin key opens all projects; leave it out, or make a recording key');
  }
  if (type === 'recording' && scope !== undefined) {
    problems.push('scope: a recording key may only record; leave it out');
  }
  const scopes = scope === undefined ? undefined : check('scope', parseScopes(scope));
  const expiresAt = check('expires', parseExpiryWithin(expires, nowMs, lifeMsMax)) ?? null;
  const networks = check('allow', parseNetworks(allow)) ?? [];
  if (networks.length > keyNetworksMax)
    problems.push(`allow: has more than ${keyNetworksMax} addresses and networks`);
  if (problems.length > 0) return failure(...problems);
  const projectId = project ?? null;
  return success({ name, type, projectId, expiresAt, allow: networks, ...(scopes && { scopes }) });
}

/** Generates a key, and stores nothing. */
export function generateApiKey(wanted: NewKey, { vendor, by, randomInt }: KeyIssuer): CreatedKey {
  const secret = generateKey(vendor, wanted.type, randomInt);
  const key: ApiKey = {
    id: generateId(randomInt),
    scopes: defaultScopes(wanted.type),
    allow: [],
    ...wanted,
    ...visibleEnds(secret),
    hash: hashKey(secret),
    createdBy: by.name,
    createdAt: by.at,
    revokedAt: null,
    disabledAt: null,
    lastUsedAt: null,
    successorId: null,
  };
  return { key, secret };
}

/** Generates the successor that a rotation has planned: like the old key in all but its life. */
export function generateSuccessor(
  { organizationId, projectId, type, name, scopes, allow }: ApiKey,
  { successorExpiresAt }: Rotation,
  maker: KeyIssuer,
): CreatedKey {
  const wanted = { organizationId, projectId, type, name, scopes, allow, expiresAt: successorExpiresAt };
  return generateApiKey(wanted, maker);
}
