/**
 * Refuses what the library accepts of an OpenID Connect provider: metadata of another issuer (OpenID Connect Discovery 1.0,
 * section 4.3), a response without an ID token, an ID token that was issued to another client (Core 1.0, section 3.1.3.7), and
 * one with a legacy signature, if the operator refuses those.
 */
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { type LegacyAlgorithms, PROVIDER_ID, type SingleSignOn } from './names.js';

/** Signatures with elliptic curves (RFC 7518, RFC 8037, RFC 9864). The strength of RSA depends on the length of the key. */
const APPROVED: readonly unknown[] = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];

export function checkProvider(
  { issuer, clientId }: SingleSignOn,
  { legacyAlgorithms }: { readonly legacyAlgorithms: LegacyAlgorithms },
): BetterAuthPlugin {
  /** The library discovers a provider again after a failure. */
  const checked = new WeakSet<object>();
  const handler = createAuthMiddleware(async ({ context }) => {
    const provider = context.socialProviders.find(({ id }) => id === PROVIDER_ID);
    if (provider === undefined || checked.has(provider)) return;
    if (provider.issuer !== issuer) {
      context.logger.error(
        `the metadata of the provider name the issuer ${provider.issuer}, and --oidc-issuer is ${issuer}: they must be equal`,
      );
      throw new APIError('BAD_GATEWAY', { code: 'OTHER_ISSUER' });
    }
    const { getUserInfo } = provider;
    provider.getUserInfo = async (tokens) => {
      // The library reads the rest of the token after it has verified it.
      const { alg } = readPart(tokens.idToken, 'header') ?? {};
      if (legacyAlgorithms === 'refuse' && !APPROVED.includes(alg)) {
        context.logger.error(`the provider signs with ${alg}, which --legacy-algorithms refuses`);
        return null;
      }
      const claims = readPart(tokens.idToken, 'claims');
      const authorized = claims === undefined ? null : claims['azp'];
      if (authorized === undefined || authorized === clientId) return getUserInfo(tokens);
      context.logger.error('the provider sent no ID token, or that of another client');
      return null;
    };
    checked.add(provider);
  });
  const matcher = ({ path = '' }: { readonly path?: string | undefined }) =>
    path === '/sign-in/social' || path.startsWith('/callback/');
  return { id: 'strict-provider', hooks: { before: [{ matcher, handler }] } };
}

/** A part of a token; undefined if it is no JWT. */
export function readPart(
  token: string | undefined,
  part: 'header' | 'claims',
): Readonly<Record<string, unknown>> | undefined {
  const encoded = token?.split('.')[part === 'header' ? 0 : 1] ?? '';
  try {
    const read: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
    return typeof read === 'object' && read !== null ? (read as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
