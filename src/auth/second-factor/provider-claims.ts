/** What an OpenID Connect provider says of the way in which it signed a user in. */

/** RFC 8176, section 2, by kind. Two kinds are two factors. */
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
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
  }),
);

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
 * names only one factor is not, nor one that says it in another form than the standards.
 */
export function provesSecondFactor(claims: unknown): boolean {
  const { amr, acr } = (claims ?? {}) as { readonly amr?: unknown; readonly acr?: unknown };
  if (typeof acr === 'string' && STRONG_CONTEXTS.includes(acr)) return true;
  // OpenID Connect Core 1.0, section 2: level 0 is less than any level of assurance.
  if (acr === '0' || !['string', 'undefined'].includes(typeof (acr ?? undefined))) return false;
  if (!Array.isArray(amr ?? [])) return false;
  const methods = (amr ?? []) as readonly unknown[];
  if (methods.length === 0 || methods.includes('mfa')) return true;
  return new Set(methods.flatMap((method) => KINDS.get(String(method)) ?? [])).size > 1;
}
