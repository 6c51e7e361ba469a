/** What the sign-in library and those who call it must agree on. Apart from the library, which takes long to load. */

/** The header that carries a client's address to the library; never taken from outside. */
export const ADDRESS_HEADER = 'x-caller-stats-address';

/** The provider of single sign-on, within the library and in its callback's path. */
export const PROVIDER_ID = 'sso';

/** Where the sign-in at the provider begins, and below which the browser comes back. */
export const SINGLE_SIGN_ON_PATH = '/api/sign-in/oidc';

/** What begins the names of the cookies. */
export const COOKIE_PREFIX = 'caller-stats';

/** Why somebody whom the provider knows may not come in. */
export type SignInProblem = 'not_a_member' | 'unverified_email';

/** An OpenID Connect provider whose users may sign in. */
export interface SingleSignOn {
  /** What the button says. */
  readonly name: string;
  /** The provider's issuer, which `/.well-known/openid-configuration` is below. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}
