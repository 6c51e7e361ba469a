/**
 * What an OpenID Connect provider says of a user: in the ID token, or at its user info endpoint if the token has no address.
 * The library's own requests follow redirects, to wherever they lead (OWASP ASVS 5.0, 15.3.2).
 */
import type { GenericOAuthOptions } from 'better-auth/plugins/generic-oauth';
import { secondMs } from '../domain/time/duration.js';
import { readPart } from './strict-provider.js';

type GetUserInfo = NonNullable<GenericOAuthOptions['config'][number]['getUserInfo']>;
type Claims = Readonly<Record<string, unknown>>;

const timeoutMs = 10 * secondMs;

/** The library has verified the ID token, and compares its `sub` with that of what this returns. */
export function getUserInfo(discoveryUrl: string): GetUserInfo {
  return async ({ idToken, accessToken }) => {
    const claims = readPart(idToken, 'claims');
    const found = claims?.['email'] === undefined ? await askProvider(discoveryUrl, accessToken) : claims;
    return found?.['sub'] === undefined ? null : { ...found, id: String(found['sub']), emailVerified: false };
  };
}

async function askProvider(
  discoveryUrl: string,
  accessToken: string | undefined,
): Promise<Claims | undefined> {
  const endpoint = (await fetchObject(discoveryUrl, {}))?.['userinfo_endpoint'];
  if (typeof endpoint !== 'string' || accessToken === undefined) return undefined;
  return fetchObject(endpoint, { authorization: `Bearer ${accessToken}` });
}

/** Undefined if there is no such response: then nobody is signed in. */
async function fetchObject(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Claims | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { headers, redirect: 'manual', signal });
    const read: unknown = response.ok ? await response.json() : undefined;
    return typeof read === 'object' && read !== null ? (read as Claims) : undefined;
  } catch {
    return undefined;
  }
}
