/**
 * Refuses what the library accepts of an OpenID Connect provider: metadata of another issuer (OpenID Connect Discovery 1.0,
 * section 4.3), a response without an ID token, and an ID token that was issued to another client (Core 1.0, section 3.1.3.7).
 */
import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { PROVIDER_ID, type SingleSignOn } from './names.js';

export function checkProvider({ issuer, clientId }: SingleSignOn): BetterAuthPlugin {
  /** The library discovers a provider again after a failure. */
  const checked = new WeakSet<object>();
  const handler = createAuthMiddleware(async ({ context }) => {
    const provider = context.socialProviders.find(({ id }) => id === PROVIDER_ID);
    if (provider === undefined || checked.has(provider)) return;
    if (withoutSlash(provider.issuer ?? '') !== withoutSlash(issuer)) {
      context.logger.error(`the metadata of the provider name another issuer: ${provider.issuer}`);
      throw new APIError('BAD_GATEWAY', { code: 'OTHER_ISSUER' });
    }
    const { getUserInfo } = provider;
    provider.getUserInfo = async (tokens) => {
      // The library reads the rest of the token after it has verified it.
      const authorized = tokens.idToken ? readClaim(tokens.idToken, 'azp') : null;
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

/** Providers and people write an issuer with and without a slash at its end. */
function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** Undefined if the token has no such claim; null if it is no JWT. */
function readClaim(token: string, name: string): unknown {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    return (claims as Readonly<Record<string, unknown>>)[name];
  } catch {
    return null;
  }
}
