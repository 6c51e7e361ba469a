/** An OpenID Connect provider that signs anybody in, and misbehaves as a test says. */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { whenOver } from '../cleanup.js';

type Json = Readonly<Record<string, unknown>>;

/** Each part changes what an honest provider would do. */
export interface Misbehavior {
  readonly metadata?: (honest: Json) => Json;
  /** Of the ID token. */
  readonly header?: Json;
  readonly claims?: (honest: Json) => Json;
  readonly signature?: Signature;
  /** The response of the token endpoint. */
  readonly tokens?: (honest: Json) => Json;
  readonly userInfo?: Json;
  /** The parameters with which the browser returns. */
  readonly returned?: (honest: URLSearchParams) => void;
  /** A path whose requests are redirected to another origin, which answers them. */
  readonly redirects?: string;
  /** A path whose requests are never answered, and what happens once one is there. */
  readonly hangs?: { readonly path: string; readonly asked: () => void };
}

type Signature =
  | 'own key'
  | 'elliptic curve'
  | 'another key'
  | 'none'
  | 'public key as secret'
  | 'client secret';

export interface ForgingProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  misbehavior: Misbehavior;
  /** The paths of the requests that it got, with what redirects led to. */
  readonly requests: readonly string[];
  /** The parameters with which a browser returns that was sent to this URL. */
  readonly authorize: (url: string) => URLSearchParams;
}

/** Generated once, because that takes longer than the rest of a test. */
const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** As few providers have, besides the first. */
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const another = generateKeyPairSync('rsa', { modulusLength: 2048 });

interface Grant {
  readonly challenge: string;
  readonly nonce: string | null;
}

/** Its user has the address that `claims` may change. It is stopped after the test. */
export async function startForgingProvider(email: string): Promise<ForgingProvider> {
  const grants = new Map<string, Grant>();
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const { hangs } = provider.misbehavior;
    if (hangs !== undefined && request.url === hangs.path) return hangs.asked();
    const { status, body, headers } = await answer(request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenOver(() => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the provider does not listen');
  const issuer = `http://localhost:${address.port}`;
  const provider = {
    ...{ issuer, clientId: 'caller-stats', clientSecret: randomBytes(32).toString('hex'), requests },
    misbehavior: {} as Misbehavior,
    authorize(url: string): URLSearchParams {
      const asked = new URL(url).searchParams;
      const code = randomBytes(8).toString('hex');
      grants.set(code, { challenge: asked.get('code_challenge') ?? '', nonce: asked.get('nonce') });
      const returned = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer });
      provider.misbehavior.returned?.(returned);
      return returned;
    },
  };

  async function answer(
    request: IncomingMessage,
  ): Promise<{ status: number; body: Json; headers?: Json & Record<string, string> }> {
    const { misbehavior } = provider;
    const { url = '' } = request;
    if (url === misbehavior.redirects) {
      const location = `${issuer.replace('localhost', '127.0.0.1')}/elsewhere${url}`;
      return { status: 307, body: {}, headers: { location } };
    }
    switch (url.replace(/^\/elsewhere/, '')) {
      case '/.well-known/openid-configuration': {
        const metadata = metadataOf(issuer);
        return { status: 200, body: misbehavior.metadata?.(metadata) ?? metadata };
      }
      case '/keys':
        return {
          status: 200,
          body: {
            keys: [
              { ...own.publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' },
              { ...curve.publicKey.export({ format: 'jwk' }), kid: 'curve', use: 'sig', alg: 'ES256' },
            ],
          },
        };
      case '/user':
        return {
          status: 200,
          body: misbehavior.userInfo ?? { sub: 'u1', email, email_verified: true, name: 'Ada' },
        };
      case '/tokens':
        return answerTokens(new URLSearchParams(await text(request)));
      default:
        return { status: 404, body: {} };
    }
  }

  function answerTokens(form: URLSearchParams): { status: number; body: Json } {
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge)
      return { status: 400, body: { error: 'invalid_grant' } };
    const { misbehavior } = provider;
    const now = Math.floor(Date.now() / 1000);
    const honest = {
      ...{ iss: issuer, aud: provider.clientId, sub: 'u1', email, email_verified: true, name: 'Ada' },
      ...{ nonce: grant.nonce, iat: now, exp: now + 600 },
    };
    const idToken = signToken(misbehavior, misbehavior.claims?.(honest) ?? honest, provider.clientSecret);
    const tokens = { token_type: 'Bearer', access_token: 'a', expires_in: 600, id_token: idToken };
    return { status: 200, body: misbehavior.tokens?.(tokens) ?? tokens };
  }

  return provider;
}

function metadataOf(issuer: string): Json {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/tokens`,
    userinfo_endpoint: `${issuer}/user`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
  };
}

const ALGORITHMS: Readonly<Record<Signature, string>> = {
  'own key': 'RS256',
  'elliptic curve': 'ES256',
  'another key': 'RS256',
  none: 'none',
  'public key as secret': 'HS256',
  'client secret': 'HS256',
};

/** A JWT (RFC 7519), without a library, because none signs as wrongly as this has to. */
function signToken(
  { signature = 'own key', header = {} }: Misbehavior,
  claims: Json,
  clientSecret: string,
): string {
  const encode = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: ALGORITHMS[signature], typ: 'JWT', kid: signature === 'elliptic curve' ? 'curve' : 'k', ...header })}.${encode(claims)}`;
  const withKey = (key: KeyObject) => sign('sha256', Buffer.from(signed), key).toString('base64url');
  const withSecret = (secret: string | Buffer) =>
    createHmac('sha256', secret).update(signed).digest('base64url');
  switch (signature) {
    case 'own key':
      return `${signed}.${withKey(own.privateKey)}`;
    case 'elliptic curve': {
      const key = { key: curve.privateKey, dsaEncoding: 'ieee-p1363' } as const;
      return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
    }
    case 'another key':
      return `${signed}.${withKey(another.privateKey)}`;
    case 'none':
      return `${signed}.`;
    case 'public key as secret':
      return `${signed}.${withSecret(own.publicKey.export({ format: 'pem', type: 'spki' }))}`;
    case 'client secret':
      return `${signed}.${withSecret(clientSecret)}`;
  }
}

/** The JWK of a key that no metadata names, for headers that carry their own key. */
export const foreignJwk = another.publicKey.export({ format: 'jwk' });
