/**
 * The OpenID Connect provider, as the library uses it, and what the library accepts of one and this program refuses: metadata of
 * another issuer (OpenID Connect Discovery 1.0, section 4.3), a response without an ID token, an ID token that was issued to
 * another client (Core 1.0, section 3.1.3.7), one with a legacy signature, if the operator refuses those, and redirects to
 * wherever they lead (OWASP ASVS 5.0, 15.3.2).
 */
import type { BetterAuthPlugin, OAuthProvider } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { type GenericOAuthOptions, genericOAuth } from 'better-auth/plugins/generic-oauth';
import { providerTimeoutMs } from '../domain/limits.js';
import { secondMs } from '../domain/time/duration.js';
import { failureReason } from '../shared/api-client.js';
import { withDeadline } from '../shared/deadline.js';
import { type LegacyAlgorithms, PROVIDER_ID, type SingleSignOn } from './names.js';

type GetUserInfo = NonNullable<GenericOAuthOptions['config'][number]['getUserInfo']>;
type Claims = Readonly<Record<string, unknown>>;

/** Signatures with elliptic curves (RFC 7518, RFC 8037, RFC 9864). The strength of RSA depends on the length of the key. */
const APPROVED: readonly unknown[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

interface ProviderOptions {
  readonly legacyAlgorithms: LegacyAlgorithms;
  /** Tells the operator why a sign-in failed. */
  readonly report: (problem: string) => void;
}

function discoveryUrlOf({ issuer }: SingleSignOn): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/**
 * The library would read the metadata when it starts, for as long as the provider keeps the connection open, and until then
 * nobody could sign in, not even with a password. As after a failure, it reads them when somebody uses the provider, and
 * waits no longer than 10 s.
 */
export function signInWithProvider(provider: SingleSignOn, options: ProviderOptions): BetterAuthPlugin {
  const { clientId, clientSecret } = provider;
  const discoveryUrl = discoveryUrlOf(provider);
  const config: GenericOAuthOptions['config'][number] = {
    providerId: PROVIDER_ID,
    clientId,
    clientSecret,
    discoveryUrl,
    // With headers, even none, the library follows no redirect to another origin.
    discoveryHeaders: {},
    getUserInfo: getUserInfo({ clientId, discoveryUrl, ...options }),
    requireIdTokenVerification: true,
    scopes: ['openid', 'email', 'profile'],
    disableProviderLogout: true,
    // The library also believes a claim with its own name for this.
    mapProfileToUser: ({ email_verified }) => ({
      emailVerified: email_verified === true || email_verified === 'true',
    }),
  };
  const init = () => ({ context: { genericOAuthPendingDiscovery: new Map([[PROVIDER_ID, config]]) } });
  return { ...genericOAuth({ config: [config] }), init };
}

/**
 * Refuses a provider whose metadata name another issuer, before anything is sent to it, and reports why there are none. Limits
 * how long the library waits for the tokens.
 */
export function checkProvider(
  singleSignOn: SingleSignOn,
  { report }: Pick<ProviderOptions, 'report'>,
): BetterAuthPlugin {
  const { issuer } = singleSignOn;
  const limited = new WeakSet<object>();
  const handler = createAuthMiddleware(async ({ context }) => {
    const provider = context.socialProviders.find(({ id }) => id === PROVIDER_ID);
    // The library says only that it could not read them.
    if (provider === undefined) await fetchObject(discoveryUrlOf(singleSignOn), {}, report);
    if (provider === undefined) return;
    if (provider.issuer === issuer) {
      if (!limited.has(provider)) limitExchange(provider, report);
      limited.add(provider);
      return;
    }
    report(
      `the metadata of the provider name the issuer ${provider.issuer}, and --oidc-issuer is ${issuer}: they must be equal`,
    );
    throw new APIError('BAD_GATEWAY', { code: 'OTHER_ISSUER' });
  });
  const matcher = ({ path = '' }: { readonly path?: string | undefined }) =>
    path === '/sign-in/social' || path.startsWith('/callback/');
  return { id: 'issuer-check', hooks: { before: [{ matcher, handler }] } };
}

/** The library itself would wait for as long as the provider keeps the connection open. */
function limitExchange(
  provider: Pick<OAuthProvider, 'validateAuthorizationCode'>,
  report: ProviderOptions['report'],
): void {
  const exchange = provider.validateAuthorizationCode;
  const late = () => {
    const problem = `the provider sent no tokens within ${providerTimeoutMs / secondMs} s`;
    // The library does not say why.
    report(problem);
    return new Error(problem);
  };
  provider.validateAuthorizationCode = (code) =>
    withDeadline(providerTimeoutMs, late, () => exchange.call(provider, code));
}

/**
 * What the provider says of a user: in the ID token, or at its user info endpoint if the token has no address. The library has
 * verified the token, if there is one, and compares its `sub` with that of what this returns.
 */
function getUserInfo({
  clientId,
  discoveryUrl,
  legacyAlgorithms,
  report,
}: ProviderOptions & { readonly clientId: string; readonly discoveryUrl: string }): GetUserInfo {
  /** Read once, as the library reads the rest of the metadata. */
  let endpoint: unknown;
  async function askProvider(accessToken: string | undefined): Promise<Claims | undefined> {
    endpoint ??= (await fetchObject(discoveryUrl, {}, report))?.['userinfo_endpoint'];
    if (typeof endpoint !== 'string' || accessToken === undefined) return undefined;
    return fetchObject(endpoint, { authorization: `Bearer ${accessToken}` }, report);
  }
  return async ({ idToken, accessToken }) => {
    const [header, claims] = (idToken ?? '').split('.').map(readPart);
    if (legacyAlgorithms === 'refuse' && !APPROVED.includes(header?.['alg'])) {
      report(`the provider signs with ${header?.['alg']}, which --legacy-algorithms refuses`);
      return null;
    }
    if (claims === undefined || (claims['azp'] !== undefined && claims['azp'] !== clientId)) {
      report('the provider sent no ID token, or that of another client');
      return null;
    }
    const found = claims['email'] === undefined ? await askProvider(accessToken) : claims;
    return found?.['sub'] === undefined ? null : { ...found, id: String(found['sub']), emailVerified: false };
  };
}

/** A part of a token; undefined if it is not an object in JSON. */
function readPart(encoded: string): Claims | undefined {
  try {
    return toObject(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')));
  } catch {
    return undefined;
  }
}

/** Undefined, and a report, if there is no such response: then nobody is signed in. */
async function fetchObject(
  url: string,
  headers: Readonly<Record<string, string>>,
  report: ProviderOptions['report'],
): Promise<Claims | undefined> {
  const fail = (why: string) => report(`the provider does not answer at ${url}: ${why}`);
  try {
    const signal = AbortSignal.timeout(providerTimeoutMs);
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    if (response.ok) return toObject(await response.json());
    fail(`its status is ${response.status}`);
  } catch (error) {
    fail(failureReason(error));
  }
  return undefined;
}

function toObject(read: unknown): Claims | undefined {
  return typeof read === 'object' && read !== null ? (read as Claims) : undefined;
}
