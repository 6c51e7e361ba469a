/** The address that passkeys belong to. Browsers offer a passkey only to pages of the host that it was created for. */
import { isIP } from 'node:net';
import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';

/** What a browser needs to sign a challenge. */
export type RequestOptions = Omit<PublicKeyCredentialRequestOptionsJSON, 'extensions'>;

export interface RelyingParty {
  /** The host name: the "RP ID" of WebAuthn. */
  readonly id: string;
  /** The origin of the pages. */
  readonly origin: string;
}

/** Why the server has no passkeys: browsers allow them only over HTTPS or on localhost, and never for an IP address. */
export type PasskeyProblem = 'no_public_url' | 'insecure';

/**
 * The public URL decides. Without one, only localhost is accepted, at any port: another host would come from what clients
 * send. `origin` is that of the request.
 */
export function findRelyingParty(
  publicUrl: string | undefined,
  origin: string,
): RelyingParty | { readonly problem: PasskeyProblem } {
  const url = URL.canParse(publicUrl ?? origin) ? new URL(publicUrl ?? origin) : undefined;
  const id = url?.hostname ?? '';
  const isLocal = id === 'localhost' || id.endsWith('.localhost');
  if (url === undefined || (publicUrl === undefined && !isLocal)) return { problem: 'no_public_url' };
  if (isIP(id.replace(/^\[|\]$/g, '')) !== 0 || (url.protocol !== 'https:' && !isLocal))
    return { problem: 'insecure' };
  return { id, origin: url.origin };
}
