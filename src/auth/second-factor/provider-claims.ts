/** What an OpenID Connect provider says of the way in which it signed a user in. */

/** RFC 8176, section 2, by kind. Two kinds are two factors. */
const KINDS: Readonly<Record<string, string>> = {
  pwd: 'knowledge',
  pin: 'knowledge',
  kba: 'knowledge',
  otp: 'possession',
  sms: 'possession',
  tel: 'possession',
  hwk: 'possession',
  swk: 'possession',
  sc: 'possession',
  face: 'biometry',
  fpt: 'biometry',
  iris: 'biometry',
  retina: 'biometry',
  vbm: 'biometry',
};

/** Values of `acr` that mean several factors: OpenID PAPE, and OpenID Connect Extended Authentication Profile. */
const STRONG_CONTEXTS = [
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
  'http://schemas.openid.net/pape/policies/2007/06/multi-factor-physical',
  'phr',
  'phrh',
];

/** By the context of the request that signs in. */
const noted = new WeakMap<object, unknown>();

/** Remembers the claims until the end of a request. */
export function noteClaims(context: object, claims: unknown): void {
  noted.set(context, claims);
}

/** The claims of the user whom a request signs in. */
export function findClaims(context: object): unknown {
  return noted.get(context);
}

/**
 * Whether the provider checked a second factor. A provider that says nothing of it is believed to have its own rules; one that
 * names only one factor is not.
 */
export function provesSecondFactor(claims: unknown): boolean {
  const { amr, acr } = (claims ?? {}) as { readonly amr?: unknown; readonly acr?: unknown };
  if (typeof acr === 'string' && STRONG_CONTEXTS.includes(acr)) return true;
  if (!Array.isArray(amr) || amr.length === 0) return true;
  if (amr.includes('mfa')) return true;
  return new Set(amr.flatMap((method) => KINDS[String(method)] ?? [])).size > 1;
}
