/** Share links: public, read-only addresses of one project's counts. */
import { shareOriginsMax } from '../limits.js';
import type { Actor } from '../people/audit.js';
import { generateToken, hashToken } from '../people/invitation.js';
import { generateId, type RandomInt } from '../random-text.js';
import { failure, quote, type Result, success } from '../result.js';

/** Which links a server serves: any, only those with a password, whose address alone opens nothing, or none. */
export const SHARE_LINK_RULES = ['any', 'password', 'none'] as const;

export type ShareLinkRule = (typeof SHARE_LINK_RULES)[number];

export function isServed(rule: ShareLinkRule, { hasPassword }: { readonly hasPassword: boolean }): boolean {
  return rule === 'any' || (rule === 'password' && hasPassword);
}

export interface ShareLink {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  /** Only members see it. */
  readonly name: string;
  /** The `hashToken` of the token in the address, which is not stored. */
  readonly tokenHash: string;
  /** The last characters of the token, so that people recognize the address. */
  readonly end: string;
  /** Null for a link without a password. */
  readonly passwordHash: string | null;
  /** The origins whose pages may embed it. */
  readonly origins: readonly string[];
  readonly createdBy: string;
  /** Milliseconds since 1970, like `expiresAt`. */
  readonly createdAt: number;
  /** Null for a link that does not expire. */
  readonly expiresAt: number | null;
}

const endCharacters = 4;

const token = /^[0-9A-Za-z]{43}$/;

/** Whether a text has the form of a token. */
export function isShareToken(text: string): boolean {
  return token.test(text);
}

/** Creates a link and its token, which is shown this once. */
export function newShareLink(
  wanted: Pick<ShareLink, 'organizationId' | 'projectId' | 'name' | 'passwordHash' | 'origins' | 'expiresAt'>,
  { by, randomInt }: { readonly by: Actor; readonly randomInt: RandomInt },
): { readonly link: ShareLink; readonly token: string } {
  const token = generateToken(randomInt);
  const link = {
    ...wanted,
    id: generateId(randomInt),
    tokenHash: hashToken(token),
    end: token.slice(-endCharacters),
    createdBy: by.name,
    createdAt: by.at,
  };
  return { link, token };
}

/** For the audit log. */
export function describeShareLink({ name, projectId, passwordHash, origins }: ShareLink): string {
  return [
    `${name}, of project ${projectId}`,
    ...(passwordHash === null ? [] : ['with a password']),
    ...(origins.length === 0 ? [] : [`embeddable on ${origins.join(', ')}`]),
  ].join('; ');
}

/**
 * The form of an origin that `frame-ancestors` can name. A browser's parser accepts more characters in a host, such as a
 * semicolon, which would begin another directive.
 */
const ORIGIN = /^https?:\/\/(?:[a-z0-9_-]+\.)*[a-z0-9_-]+(?::\d{1,5})?$/;

/** Parses origins that may embed a link, and sorts them without duplicates. */
export function parseShareOrigins(texts: readonly string[]): Result<readonly string[]> {
  const parsed = texts.map(parseOrigin);
  const problems = parsed.flatMap((one) => (one.ok ? [] : one.problems));
  const origins = [...new Set(parsed.flatMap((one) => (one.ok ? [one.value] : [])))].toSorted();
  if (origins.length > shareOriginsMax) problems.push(`has more than ${shareOriginsMax} origins`);
  return problems.length === 0 ? success(origins) : failure(...problems);
}

function parseOrigin(text: string): Result<string> {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && url.href === `${url.origin}/` && ORIGIN.test(url.origin)
    ? success(url.origin)
    : failure(`${quote(text)} is not an origin such as https://docs.example.com, without a path`);
}
