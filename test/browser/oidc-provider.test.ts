/** The OpenID Connect provider of the tests is strict, so that tests of single sign-on prove what the service sends. */
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type OidcProvider, startOidcProvider } from '../support/users/oidc-provider.js';
import { OidcUserAgent } from '../support/users/oidc-user-agent.js';

const ada = { id: 'u1', email: 'ada@example.com', emailVerified: true, name: 'Ada' };
const redirectPath = '/signed-in';
const callback = `http://127.0.0.1:4321${redirectPath}`;

const start = () => startOidcProvider({ users: [ada], redirectPath });

/** A sign-in attempt as a client makes it. */
async function attempt(provider: OidcProvider, more: Record<string, string> = {}) {
  const response = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
  const discovery = (await response.json()) as Record<'authorization_endpoint' | 'token_endpoint', string>;
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(discovery.authorization_endpoint);
  url.search = new URLSearchParams({
    client_id: provider.clientId,
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: callback,
    state: 'state-1',
    nonce: 'nonce-1',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  }).toString();
  const redeem = (code: string | null, with_: { verifier?: string; secret?: string } = {}) => {
    const secret = with_.secret ?? provider.clientSecret;
    return fetch(discovery.token_endpoint, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${provider.clientId}:${secret}`).toString('base64')}`,
      },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: code ?? '',
        redirect_uri: callback,
        code_verifier: with_.verifier ?? verifier,
      }),
    });
  };
  return { url, redeem };
}

async function statusAndError(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: string };
  return [response.status, error];
}

describe('the provider refuses', () => {
  test('a request without PKCE, and a redirect to another path', async () => {
    const provider = await start();
    const { url } = await attempt(provider);
    url.searchParams.delete('code_challenge');
    url.searchParams.delete('code_challenge_method');
    const sent = await new OidcUserAgent().signIn(url, ada.email);
    expect(sent.searchParams.get('error')).toBe('invalid_request');
    const other = await attempt(provider, { redirect_uri: 'http://127.0.0.1:4321/elsewhere' });
    await expect(new OidcUserAgent().signIn(other.url, ada.email)).rejects.toThrow('answered 400');
  });

  test('a code with a wrong verifier or secret, and a code that was already used', async () => {
    const provider = await start();
    const { url, redeem } = await attempt(provider);
    const agent = new OidcUserAgent();
    const newCode = async () => (await agent.signIn(url, ada.email)).searchParams.get('code');
    const verifier = randomBytes(32).toString('base64url');
    expect(await statusAndError(await redeem(await newCode(), { verifier }))).toEqual([400, 'invalid_grant']);
    expect(await statusAndError(await redeem(await newCode(), { secret: 'wrong' }))).toEqual([
      401,
      'invalid_client',
    ]);
    const code = await newCode();
    expect((await redeem(code)).status).toBe(200);
    expect(await statusAndError(await redeem(code))).toEqual([400, 'invalid_grant']);
  });
});
