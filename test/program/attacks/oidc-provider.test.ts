/** Single sign-on with a provider that misbehaves, or answers that others made. */
import { describe, expect, test, vi } from 'vitest';
import { providerTimeoutMs } from '../../../src/domain/limits.js';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { Browser, signedIn } from '../../support/http/dashboard.js';
import { type Service, type ServiceOptions, startService } from '../../support/http/http.js';
import { by } from '../../support/storage/store.js';
import {
  type ForgingProvider,
  foreignJwk,
  type Misbehavior,
  startForgingProvider,
} from '../../support/users/forging-provider.js';
import { memberOf, runOnUsers } from '../../support/users/people.js';

const publicUrl = 'http://127.0.0.1:4321';
const callback = '/api/sign-in/oidc/callback/sso';
const ada = 'ada@example.org';
const kate = 'kate@example.org';
const failed = '/sign-in?problem=failed';

const now = () => Math.floor(Date.now() / 1000);
const without = (name: string) => (honest: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(honest).filter(([key]) => key !== name));

type Both = Awaited<ReturnType<typeof start>>;

async function start(misbehavior: Misbehavior = {}, users: ServiceOptions['users'] = {}, issuerEnd = '') {
  const provider = await startForgingProvider(ada);
  provider.misbehavior = misbehavior;
  const { clientId, clientSecret } = provider;
  const issuer = provider.issuer + issuerEnd;
  const singleSignOn = { issuer, clientId, clientSecret, secondFactor: 'trust' } as const;
  const service = await startService({ users: { publicUrl, singleSignOn, ...users } }, whenOver);
  service.hide(clientSecret);
  for (const email of [ada, kate])
    await service.store.directory.addMember(memberOf(email, { role: 'owner' }), by);
  return { service, provider };
}

async function redirectOf(browser: Browser, path: string): Promise<string> {
  const { status, headers } = await browser.send({ path });
  expect(status).toBe(302);
  return (headers['location'] ?? '').replace(publicUrl, '');
}

/** Begins in this browser; returns the path with which the provider sends it back. */
async function beginIn(browser: Browser, provider: ForgingProvider): Promise<string> {
  const url = await redirectOf(browser, '/api/sign-in/oidc?to=/members');
  return url.startsWith('/') ? url : `${callback}?${provider.authorize(url)}`;
}

/** Signs in; returns where the browser ends up. */
async function signIn({ service, provider }: Both): Promise<string> {
  const browser = new Browser(service);
  const back = await beginIn(browser, provider);
  return back.startsWith(callback) ? redirectOf(browser, back) : back;
}

async function expectNobody({ store }: Service): Promise<void> {
  for (const table of ['user_account', 'user_session'])
    expect((await runOnUsers(store, `SELECT id FROM {${table}}`)).rows, table).toEqual([]);
}

test('an honest response signs in, so that what follows is refused for its fault', async () => {
  const both = await start();
  expect(await signIn(both)).toBe('/members');
  expect((await runOnUsers(both.service.store, 'SELECT email FROM {user_account}')).rows).toEqual([
    { email: ada },
  ]);
});

test('an address that only the user info has signs in, and the metadata are read once', async () => {
  const both = await start({ claims: without('email') });
  expect(await signIn(both)).toBe('/members');
  const { length } = both.provider.requests;
  expect(await signIn(both)).toBe('/members');
  expect(both.provider.requests.slice(length)).toEqual(['POST /tokens', 'GET /user']);
});

test('an issuer may end in a slash, as its metadata have it', async () => {
  const slashed: Misbehavior = {
    metadata: (metadata) => ({ ...metadata, issuer: `${metadata['issuer']}/` }),
    claims: (claims) => ({ ...claims, iss: `${claims['iss']}/` }),
    returned: (query) => query.set('iss', `${query.get('iss')}/`),
  };
  expect(await signIn(await start(slashed, {}, '/'))).toBe('/members');
});

test('an ID token may be half a minute early or late, because clocks differ', async () => {
  const both = await start();
  for (const claims of [{ exp: now() - 15 }, { nbf: now() + 15 }]) {
    both.provider.misbehavior = { claims: (honest) => ({ ...honest, ...claims }) };
    expect(await signIn(both)).toBe('/members');
  }
});

test('an algorithm that the metadata do not list signs nobody in', async () => {
  const listed = { id_token_signing_alg_values_supported: ['ES256'] };
  const both = await start({ metadata: (metadata) => ({ ...metadata, ...listed }) });
  expect(await signIn(both)).toBe(failed);
  await expectNobody(both.service);
  both.provider.misbehavior = { signature: 'elliptic curve' };
  expect(await signIn(both)).toBe('/members');
});

test('signatures of RSA sign nobody in if the server refuses legacy algorithms', async () => {
  const both = await start({}, { legacyAlgorithms: 'refuse' });
  expect(await signIn(both)).toBe(failed);
  await expectNobody(both.service);
  both.provider.misbehavior = { signature: 'elliptic curve' };
  expect(await signIn(both)).toBe('/members');
});

describe('single sign-on refuses', () => {
  // None of the responses signs anybody in, so the service stays as it is.
  const shared = sharedByTests(() => start());

  test.each<[string, Misbehavior, string?]>([
    ['no ID token', { tokens: without('id_token') }],
    ['an empty ID token', { tokens: (tokens) => ({ ...tokens, id_token: '' }) }],
    ['an ID token that is no JWT', { tokens: (tokens) => ({ ...tokens, id_token: 'opaque' }) }],
    ['a token response that is an error', { tokens: () => ({ error: 'server_error' }) }],
    ['a redirect of the token endpoint', { redirects: '/tokens' }],
    ['a redirect of the user info', { claims: without('email'), redirects: '/user' }],
    ['an unsigned ID token', { signature: 'none' }],
    ['an ID token that is signed with the public key as a secret', { signature: 'public key as secret' }],
    ['an ID token that is signed with the client secret', { signature: 'client secret' }],
    ['an ID token that another key signed', { signature: 'another key' }],
    [
      'an ID token that another key signed, of another name',
      { signature: 'another key', header: { kid: 'x' } },
    ],
    [
      'an ID token that brings its own key',
      { signature: 'another key', header: { kid: 'x', jwk: foreignJwk } },
    ],
    ['another issuer', { claims: (claims) => ({ ...claims, iss: 'https://other.test' }) }],
    ['no issuer', { claims: without('iss') }],
    ['the ID token of another client', { claims: (claims) => ({ ...claims, aud: 'another-client' }) }],
    [
      'an ID token for another client as well',
      { claims: (claims) => ({ ...claims, aud: ['caller-stats', 'another-client'], azp: 'another-client' }) },
    ],
    ['no audience', { claims: without('aud') }],
    ['an expired ID token', { claims: (claims) => ({ ...claims, iat: now() - 7200, exp: now() - 3600 }) }],
    ['an ID token that ended 45 seconds ago', { claims: (claims) => ({ ...claims, exp: now() - 45 }) }],
    ['an ID token that begins in 45 seconds', { claims: (claims) => ({ ...claims, nbf: now() + 45 }) }],
    ['an ID token without an end', { claims: without('exp') }],
    ['an ID token from the future', { claims: (claims) => ({ ...claims, nbf: now() + 3600 }) }],
    ['no nonce', { claims: without('nonce') }],
    ['the nonce of another sign-in', { claims: (claims) => ({ ...claims, nonce: 'another' }) }],
    ['no subject', { claims: without('sub') }],
    ['no address', { claims: without('email'), userInfo: { sub: 'u1' } }],
    [
      'the address of another subject',
      { claims: without('email'), userInfo: { sub: 'u2', email: ada, email_verified: true } },
    ],
    [
      'an address that nobody verified',
      { claims: (claims) => ({ ...claims, email_verified: false }) },
      '/sign-in?problem=unverified_email',
    ],
    [
      'an address of which nothing says that it is verified',
      { claims: without('email_verified') },
      '/sign-in?problem=unverified_email',
    ],
    [
      'an address that only a claim of another name calls verified',
      { claims: (claims) => ({ ...claims, email_verified: false, emailVerified: true }) },
      '/sign-in?problem=unverified_email',
    ],
    [
      'an address that is that of a member only in small letters',
      // The Kelvin sign, whose small letter is a k of ASCII.
      { claims: (claims) => ({ ...claims, email: '\u212Aate@example.org' }) },
      '/sign-in?problem=unverified_email',
    ],
    [
      'a response that another provider sent',
      { returned: (query) => query.set('iss', 'https://other.test') },
    ],
    ['another state', { returned: (query) => query.set('state', 'another') }],
    ['no state', { returned: (query) => query.delete('state') }],
    ['another code', { returned: (query) => query.set('code', 'another') }],
    ['no code', { returned: (query) => query.delete('code') }],
    ['an error of the provider', { returned: (query) => query.set('error', 'access_denied') }],
  ])('%s', async (_what, misbehavior, expected = failed) => {
    const both = shared();
    both.provider.misbehavior = misbehavior;
    expect(await signIn(both)).toBe(expected);
    await expectNobody(both.service);
    expect(both.provider.requests.filter((one) => one.includes('/elsewhere'))).toEqual([]);
  });

  test.each<[string, Misbehavior]>([
    [
      'metadata and ID tokens of another issuer',
      {
        metadata: (metadata) => ({ ...metadata, issuer: 'https://other.test' }),
        claims: (claims) => ({ ...claims, iss: 'https://other.test' }),
        returned: (query) => query.delete('iss'),
      },
    ],
    [
      'metadata of another issuer',
      { metadata: (metadata) => ({ ...metadata, issuer: 'https://other.test' }) },
    ],
    [
      'metadata and ID tokens of an issuer with one more slash at the end',
      {
        metadata: (metadata) => ({ ...metadata, issuer: `${metadata['issuer']}/` }),
        claims: (claims) => ({ ...claims, iss: `${claims['iss']}/` }),
        returned: (query) => query.set('iss', `${query.get('iss')}/`),
      },
    ],
    ['metadata without an issuer', { metadata: without('issuer') }],
    ['a redirect of the metadata', { redirects: '/.well-known/openid-configuration' }],
    ['metadata without keys', { metadata: without('jwks_uri') }],
  ])('%s', async (_what, misbehavior) => {
    const both = await start(misbehavior);
    expect(await signIn(both)).toBe(failed);
    await expectNobody(both.service);
    expect(both.provider.requests.filter((one) => /\/elsewhere|\/tokens/.test(one))).toEqual([]);
  });

  test('a redirect of the keys', async () => {
    const both = await start({ redirects: '/keys' });
    expect(await signIn(both)).toBe(failed);
    await expectNobody(both.service);
    expect(both.provider.requests).not.toContain('GET /elsewhere/keys');
  });

  test('a provider only as long as its metadata are unusable', async () => {
    const both = await start({ metadata: without('jwks_uri') });
    expect(await signIn(both)).toBe(failed);
    both.provider.misbehavior = {};
    expect(await signIn(both)).toBe('/members');
  });

  test('a response that was used, or that another browser began', async () => {
    const both = await start();
    const [browser, victim] = [new Browser(both.service), new Browser(both.service)];
    const back = await beginIn(browser, both.provider);
    expect(await redirectOf(victim, back)).toBe(failed);
    await beginIn(victim, both.provider);
    expect(await redirectOf(victim, back)).toBe(failed);
    await expectNobody(both.service);
    const mine = await beginIn(browser, both.provider);
    expect(await redirectOf(browser, mine)).toBe('/members');
    await browser.ask({ path: '/api/sign-out', body: {} }, 204);
    expect(await redirectOf(browser, mine)).toBe(failed);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({ user: null });
  });
});

describe('while the provider takes connections and answers nothing', () => {
  /** Lets all deadlines that the provider is subject to pass, whenever it is asked. */
  function limitedBy(path: string): Misbehavior {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    whenOver(() => vi.useRealTimers());
    const signals: AbortController[] = [];
    const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      expect(ms).toBeLessThanOrEqual(providerTimeoutMs);
      const controller = new AbortController();
      signals.push(controller);
      return controller.signal;
    });
    whenOver(() => spy.mockRestore());
    const pass = () => {
      vi.advanceTimersByTime(providerTimeoutMs);
      for (const signal of signals) signal.abort(new DOMException('too late', 'TimeoutError'));
    };
    return { hangs: { path, asked: pass } };
  }

  test.each([
    ['/.well-known/openid-configuration', /the provider does not answer at .*configuration: /],
    ['/tokens', /the provider sent no tokens within 10 s/],
    ['/keys', /id_token failed verification/],
    ['/user', /the provider does not answer at .*user: /],
  ])('at %s, a sign-in ends after its time, and lets nobody in', async (path, logged) => {
    const both = await start();
    both.provider.misbehavior = { claims: without('email'), ...limitedBy(path) };
    expect(await signIn(both)).toBe(failed);
    await expectNobody(both.service);
    expect(both.service.log()).toMatch(logged);
    both.provider.misbehavior = {};
    expect(await signIn(both)).toBe('/members');
  });

  test('people sign in with a password, also to a server that started meanwhile', async () => {
    const asked: string[] = [];
    const hangs = { path: '/.well-known/openid-configuration', asked: () => asked.push('metadata') };
    const { service } = await start({ hangs });
    const browser = await signedIn(service, 'cleo@example.org', 'viewer');
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({
      user: { email: 'cleo@example.org' },
    });
    expect(asked).toEqual([]);
  });
});
