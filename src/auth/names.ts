/** Names that the sign-in library and its callers share. A separate file, because the library takes long to load. */

/** Passes the client's address to the library. Requests cannot set it. */
export const ADDRESS_HEADER = 'x-caller-stats-address';

/** The id of the single sign-on provider in the library and in the path of its callback. */
export const PROVIDER_ID = 'sso';

/** Starts single sign-on. The browser returns to a path below it. */
export const SINGLE_SIGN_ON_PATH = '/api/sign-in/oidc';

/** The browser returns to this path from the provider. */
export const SINGLE_SIGN_ON_CALLBACK = `${SINGLE_SIGN_ON_PATH}/callback/${PROVIDER_ID}`;

/** In the names of all cookies. */
export const COOKIE_PREFIX = 'caller-stats';

/** Where cookies are used. */
export interface CookiePlace {
  /** Whether the site uses HTTPS. */
  readonly secure: boolean;
  /** The prefix of every path, without a slash at the end. */
  readonly basePath: string;
}

/**
 * Begins the names of cookies. Browsers take a `__Host-` cookie only over HTTPS, from this host and for all of it, so that no
 * other host of the domain can set one. That excludes a path, so a site with a base path has `__Secure-` cookies.
 */
export function cookiePrefix({ secure, basePath }: CookiePlace): string {
  if (!secure) return COOKIE_PREFIX;
  return `${basePath === '' ? '__Host-' : '__Secure-'}${COOKIE_PREFIX}`;
}

/** Begins the names of what people's connected applications have in the store. */
export const APPLICATION_PREFIX = 'application-';

/** Begins the tokens of connected applications. No key begins like this. */
export const APPLICATION_TOKEN_PREFIX = 'cs-application-';

/** The name of the secret in the store, if no setting and no file has it. */
export const SECRET_NAME = 'sessions';

/** Why a user of the provider may not sign in. */
export type SignInProblem = 'not_a_member' | 'unverified_email' | 'linked_to_another' | 'address_changed';

/**
 * Whether algorithms are accepted that OWASP ASVS 5.0 (appendix C) does not approve of, because much that people use knows no
 * others: RSA signatures of providers and passkeys, and authenticator apps with SHA-1.
 */
export const LEGACY_ALGORITHMS = ['accept', 'refuse'] as const;

export type LegacyAlgorithms = (typeof LEGACY_ALGORITHMS)[number];

/** An OpenID Connect provider whose users may sign in. */
export interface SingleSignOn {
  /** The URL that `/.well-known/openid-configuration` is appended to. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whether users with a second factor have to enter it here, or the provider's own is enough. */
  readonly secondFactor: 'require' | 'trust';
}

/** Begins the identifiers of links that were mailed. They are not secret, and no part of a link. */
export const MAILED_PREFIX = 'mailed-reset-';
