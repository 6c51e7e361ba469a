import type { SingleSignOn } from '../../auth/names.js';
import { UsageError } from '../io.js';

/**
 * The provider of single sign-on that the settings name; undefined for none. `UsageError` where they say only a part of
 * what it takes.
 */
export function singleSignOnOf({
  oidcIssuer,
  oidcClientId,
  oidcClientSecret,
  oidcName,
  publicUrl,
}: {
  readonly oidcIssuer: string | null;
  readonly oidcClientId: string | null;
  readonly oidcClientSecret: string | null;
  readonly oidcName: string;
  readonly publicUrl: string | null;
}): SingleSignOn | undefined {
  if (oidcIssuer === null && oidcClientId === null && oidcClientSecret === null) return undefined;
  const needed = {
    '--oidc-issuer': oidcIssuer,
    '--oidc-client-id': oidcClientId,
    CALLER_STATS_OIDC_CLIENT_SECRET: oidcClientSecret,
    '--public-url': publicUrl,
  };
  const missing = Object.entries(needed)
    .filter(([, value]) => value === null)
    .map(([name]) => `${name}: is missing; single sign-on needs it`);
  if (oidcIssuer === null || oidcClientId === null || oidcClientSecret === null || missing.length > 0)
    throw new UsageError(missing);
  return { name: oidcName, issuer: oidcIssuer, clientId: oidcClientId, clientSecret: oidcClientSecret };
}
