/** The use case of share links: creating one. Lists and revocations are single calls of the store. */
import { CallerStatsError } from '../domain/errors.js';
import { defaultExpiry, parseExpiryWithin } from '../domain/keys/key-lifetime.js';
import { parseName } from '../domain/names.js';
import type { Actor } from '../domain/people/audit.js';
import {
  isServed,
  newShareLink,
  parseShareOrigins,
  type ShareLink,
  type ShareLinkRule,
} from '../domain/projects/share-link.js';
import { collectProblems, failure, prefixProblems, type Result, success } from '../domain/result.js';
import type { KeyIssuing } from './keys.js';
import { requireProject } from './projects.js';

/** A request for a share link, as its author wrote it. */
export interface ShareLinkRequest {
  readonly name: string;
  /** See `parseExpiryWithin`; without it, as for a reading key. */
  readonly expires?: string | undefined;
  readonly password?: string | undefined;
  readonly origins?: readonly string[] | undefined;
}

/** The longest life of keys applies to share links, too. */
export interface ShareLinkIssuing extends Pick<KeyIssuing, 'store' | 'keyLifeMax' | 'randomInt'> {
  readonly shareLinks: ShareLinkRule;
  /** Checks a new password of an editor, and hashes it. */
  readonly hashPassword: (
    password: string,
    { projectName, by }: { readonly projectName: string; readonly by: Actor },
  ) => Promise<string>;
}

/**
 * Creates a share link. Returns it with its token, which is not stored. Throws `invalid` with a detail for each problem, and
 * `not_found` unless the organization has the project.
 */
export async function createShareLink(
  { store, keyLifeMax, randomInt, shareLinks, hashPassword }: ShareLinkIssuing,
  { organizationId, id }: { readonly organizationId: string; readonly id: string },
  { name, expires, password, origins = [] }: ShareLinkRequest,
  by: Actor,
): Promise<{ readonly link: ShareLink; readonly token: string }> {
  const project = await requireProject(store, organizationId, id);
  const named = prefixProblems('name', parseName(name));
  const asked = expires ?? defaultExpiry('reading', keyLifeMax);
  const expiry = prefixProblems('expires', parseExpiryWithin(asked, by.at, keyLifeMax));
  const allowed = prefixProblems('origins', parseShareOrigins(origins));
  const served = requireServed(shareLinks, password);
  if (!(named.ok && expiry.ok && allowed.ok && served.ok)) {
    const details = collectProblems(named, expiry, allowed, served);
    throw new CallerStatsError('invalid', 'The request is invalid.', { details });
  }
  const passwordHash =
    password === undefined ? null : await hashPassword(password, { projectName: project.name, by });
  const wanted = {
    organizationId,
    projectId: project.id,
    name: named.value,
    passwordHash,
    origins: allowed.value,
    expiresAt: expiry.value,
  };
  const created = newShareLink(wanted, { by, randomInt });
  await store.directory.createShareLink(created.link, by);
  return created;
}

function requireServed(rule: ShareLinkRule, password: string | undefined): Result<undefined> {
  if (isServed(rule, { hasPassword: password !== undefined })) return success(undefined);
  return failure(
    rule === 'none'
      ? 'name: this server serves no share links'
      : 'password: is missing; this server serves only share links with a password',
  );
}
