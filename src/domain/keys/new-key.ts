/** Creating keys: the request for a key, and the key itself. */
import { keyNetworksMax } from '../limits.js';
import { parseName } from '../names.js';
import type { Actor } from '../people/audit.js';
import { generateId, type RandomInt } from '../random-text.js';
import { collectProblems, failure, prefixProblems, type Result, success } from '../result.js';
import {
  type ApiKey,
  defaultScopes,
  generateKey,
  hashKey,
  type KeyType,
  type NewKey,
  parseScopes,
  visibleEnds,
} from './api-key.js';
import { defaultExpiry, parseExpiryWithin } from './key-lifetime.js';
import { parseNetworks } from './networks.js';

/** A key as stored, and its secret, which is shown this once. */
export interface CreatedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

export interface KeyIssuer {
  /** The prefix of new keys. */
  readonly vendor: string;
  readonly by: Actor;
  readonly randomInt: RandomInt;
}

/** A request for a key, as its author wrote it. */
export interface KeyRequest {
  readonly name: string;
  readonly type: KeyType;
  readonly project?: string | undefined;
  /** See `parseScopes`. */
  readonly scope?: string | undefined;
  readonly allow?: readonly string[] | undefined;
  /** See `parseExpiryWithin`; without it, `defaultExpiry`. */
  readonly expires?: string | undefined;
}

/** Checks a request. Each problem begins with the name of its field. `lifeMsMax` is as in `parseExpiryWithin`. */
export function parseKeyRequest(
  { name, type, project, scope, allow = [], expires }: KeyRequest,
  { nowMs, lifeMsMax }: { readonly nowMs: number; readonly lifeMsMax: number | null },
): Result<Omit<NewKey, 'organizationId'>> {
  const scopes = scope === undefined ? success(undefined) : prefixProblems('scope', parseScopes(scope));
  const asked = expires ?? defaultExpiry(type, lifeMsMax);
  const expiresAt = prefixProblems('expires', parseExpiryWithin(asked, nowMs, lifeMsMax));
  const networks = prefixProblems('allow', parseNetworks(allow));
  const problems = collectProblems(prefixProblems('name', parseName(name)));
  problems.push(...typeProblems(type, project, scope));
  problems.push(...collectProblems(scopes, expiresAt, networks));
  if (networks.ok && networks.value.length > keyNetworksMax)
    problems.push(`allow: has more than ${keyNetworksMax} addresses and networks`);
  if (problems.length > 0 || !(scopes.ok && expiresAt.ok && networks.ok)) return failure(...problems);
  const wanted = {
    name,
    type,
    projectId: project ?? null,
    expiresAt: expiresAt.value,
    allow: networks.value,
  };
  return success({ ...wanted, ...(scopes.value && { scopes: scopes.value }) });
}

/** What a key may do that is bound to a project; null for one that opens all projects, and chooses its scopes. */
const BOUND_TO: Readonly<Record<KeyType, 'record' | 'read' | null>> = {
  admin: null,
  recording: 'record',
  reading: 'read',
};

/** A key that is bound to a project names it, and has no choice of scopes. */
function typeProblems(type: KeyType, project: string | undefined, scope: string | undefined): string[] {
  const mayOnly = BOUND_TO[type];
  if (mayOnly === null) {
    if (project === undefined) return [];
    return ['project: an admin key opens all projects; leave it out, or create a recording or reading key'];
  }
  const problems = project === undefined ? [`project: a ${type} key needs one`] : [];
  if (scope === undefined) return problems;
  return [...problems, `scope: a ${type} key may only ${mayOnly}; leave it out`];
}

/** Generates a key without storing it. */
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
