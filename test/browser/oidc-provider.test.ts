/** The OpenID Connect provider of the tests behaves as clients may expect; refusals first. */
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { expectAccessible } from '../support/accessible.js';
import { browserVisits } from '../support/browser.js';
import { onSqlite } from '../support/dashboard-server.js';
import { type OidcProvider, startOidcProvider } from '../support/oidc-provider.js';
import { OidcUserAgent } from '../support/oidc-user-agent.js';

const ada = { id: 'u1', email: 'ada@example.com', emailVerified: true, name: 'Ada' };
const bob = { id: 'u2', email: 'bob@example.com', emailVerified: false, name: 'Bob' };
const redirectPath = '/signed-in';
const callback = `http://127.0.0.1:4321${redirectPath}`;

const start = () => startOidcProvider({ users: [ada, bob], redirectPath });

interface Discovery {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly jwks_uri: string;
}

async function discover({ issuer }: OidcProvider): Promise<Discovery> {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`);
  return (await response.json()) as Discovery;
}

/** A sign-in attempt as a client makes it. */
async function attempt(provider: OidcProvider, more: Record<string, string> = {}) {
  const discovery = await discover(provider);
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
  return { url, redeem, discovery };
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

  test.each([
    ['who declines', null],
    ['whom it does not know', 'eve@example.com'],
  ])('a user %s, and redirects to the client with an error', async (_who, email) => {
    const { url } = await attempt(await start());
    const sent = await new OidcUserAgent().signIn(url, email);
    expect(sent.href.startsWith(callback)).toBe(true);
    expect(Object.fromEntries(sent.searchParams)).toMatchObject({ error: 'access_denied', state: 'state-1' });
  });

  test('every request after it was stopped', async () => {
    const provider = await start();
    const { url } = await attempt(provider);
    await provider.stop();
    await expect(new OidcUserAgent().signIn(url, ada.email)).rejects.toThrow('fetch failed');
  });
});

test.each([ada, bob])('$name signs in, and the client receives their identity', async (user) => {
  const provider = await start();
  const { url, redeem, discovery } = await attempt(provider);
  expect(discovery.issuer).toBe(provider.issuer);
  const sent = await new OidcUserAgent().signIn(url, user.email);
  expect(`${sent.origin}${sent.pathname}`).toBe(callback);
  expect(Object.fromEntries(sent.searchParams)).toMatchObject({ state: 'state-1', iss: provider.issuer });
  const answer = await redeem(sent.searchParams.get('code'));
  const tokens = (await answer.json()) as { access_token: string; id_token: string };
  const claims = JSON.parse(
    Buffer.from(tokens.id_token.split('.')[1] ?? '', 'base64url').toString(),
  ) as unknown;
  expect(claims).toMatchObject({ sub: user.id, aud: provider.clientId, nonce: 'nonce-1' });
  const userinfo = () =>
    fetch(discovery.userinfo_endpoint, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    }).then((response) => response.json());
  expect(await userinfo()).toEqual({
    sub: user.id,
    email: user.email,
    email_verified: user.emailVerified,
    name: user.name,
  });
  provider.users.splice(0, 2, { ...user, email: 'new@example.com' });
  expect(await userinfo()).toMatchObject({ sub: user.id, email: 'new@example.com' });
});

describe('in a browser', () => {
  const visit = browserVisits();

  test('its page asks for the user and redirects to the service', async () => {
    const [provider, server] = await Promise.all([start(), onSqlite()]);
    const { page, troubles } = await visit(server.url);
    const back = `${server.url}${redirectPath}`;
    const { url } = await attempt(provider, { redirect_uri: back });
    await page.goto(url.href);
    await expectAccessible(page);
    await page.getByLabel('E-mail').fill(ada.email);
    // The service does not have this route.
    const found = page.waitForURL(`${back}?**`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await found;
    const { pathname, search, searchParams } = new URL(page.url());
    troubles.expect(`GET ${pathname}${search}: 404`);
    expect(searchParams.get('state')).toBe('state-1');
    expect(searchParams.get('code')).toMatch(/./);
  });
});
