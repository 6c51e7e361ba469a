/**
 * Applications that register themselves (RFC 7591), such as chat assistants. Anybody may: the client id holds what was
 * registered, with a signature, so a registration stores nothing.
 */
import { createHash } from 'node:crypto';
import { redirectUriCharactersMax, redirectUrisMax } from '../../domain/limits.js';
import { isName } from '../../domain/names.js';
import { failure, type Result, success } from '../../domain/result.js';
import type { Secrets } from '../secrets.js';

/** What an application says of itself. */
export interface Registration {
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const PURPOSE = 'application';

/** Browsers run these, or show them as a page of their own. */
const FORBIDDEN_SCHEMES = [
  'javascript:',
  'data:',
  'vbscript:',
  'blob:',
  'about:',
  'file:',
  'filesystem:',
  'view-source:',
];

/** Hosts of the person's own machine (RFC 8252, section 7.3). */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const LOOPBACK_PORT = /(?<=^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d*(?=[/?]|$)/;

/** Every problem of the metadata that a client sends. */
export function parseRegistration(body: Readonly<Record<string, unknown>>): Result<Registration> {
  const { redirect_uris: uris, client_name: given = 'an application' } = body;
  if (typeof given !== 'string' || !isName(given))
    return failure('The client_name is not 1 to 100 visible characters.');
  if (!isListOfTexts(uris) || uris.length === 0 || uris.length > redirectUrisMax)
    return failure(`The redirect_uris are not a list of 1 to ${redirectUrisMax} URIs.`);
  const wrong = uris.find((uri) => !isRedirectUri(uri));
  if (wrong !== undefined)
    return failure(
      'One of the redirect_uris is not absolute, has a fragment, or is too long; http is only for localhost.',
    );
  return success({ name: given, redirectUris: uris });
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isRedirectUri(text: string): boolean {
  if (text.length > redirectUriCharactersMax || /[\s#\\]/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '' || FORBIDDEN_SCHEMES.includes(protocol)) return false;
  return protocol !== 'http:' || LOOPBACK.includes(hostname);
}

/** The client id: the name and hashes of the URIs, because the request for a code brings the URI itself. */
export function toClientId(secrets: Secrets, { name, redirectUris }: Registration): string {
  const text = [name, ...redirectUris.map(hashUri)].join('\n');
  const encoded = Buffer.from(text).toString('base64url');
  return `${encoded}.${secrets.sign(PURPOSE, encoded)}`;
}

/** The name of the application; undefined if nobody registered this id with the URI. */
export function findClient(
  secrets: Secrets,
  clientId: string,
  redirectUri: string,
): { readonly name: string } | undefined {
  const [encoded = '', signature = ''] = clientId.split('.');
  if (!secrets.verify(PURPOSE, encoded, signature)) return undefined;
  const [name = '', ...hashes] = Buffer.from(encoded, 'base64url').toString().split('\n');
  return isRedirectUri(redirectUri) && hashes.includes(hashUri(redirectUri)) ? { name } : undefined;
}

/** On the person's own machine, the port may be another each time (RFC 8252, section 7.3). Nothing else may differ. */
function hashUri(uri: string): string {
  const text = uri.replace(LOOPBACK_PORT, '');
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
