/** Applications that people connect (OAuth): refusals, then the flow of the official client of `/mcp`. */
import { createHash } from 'node:crypto';
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import {
  applicationAccessSeconds,
  applicationCodeSeconds,
  applicationConnectionSeconds,
  applicationGraceSeconds,
  applicationLifeSeconds,
  openingsMax,
  redirectUriCharactersMax,
  redirectUrisMax,
} from '../../../src/domain/limits.js';
import { secondMs } from '../../../src/domain/time/duration.js';
import { auditOf, Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { errorOf, type Service, sharedService, startService } from '../../support/http/http.js';
import { callsWithin } from '../../support/http/http-store.js';
import { codeNow, usersOf } from '../../support/users/visitor.js';

const ada = 'ada@example.org';
const RETURN = 'https://chat.example/callback';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

async function register(
  service: Service,
  body: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await service.send({
    method: 'POST',
    path: '/oauth/register',
    key: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
}

async function clientIdOf(service: Service, redirect = RETURN): Promise<string> {
  const { body } = await register(service, { client_name: 'Chat', redirect_uris: [redirect] });
  return String(body['client_id']);
}

function askFor(clientId: string, more: Readonly<Record<string, string>> = {}): string {
  return new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: RETURN,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'x y',
    ...more,
  }).toString();
}

const allow = async (browser: Browser, query: string, origin?: URL): Promise<URL> => {
  const body = { query, allow: true };
  const headers = origin && { host: origin.host, origin: origin.origin };
  return new URL(
    (
      await browser.ask<{ redirect: string }>({
        path: '/api/applications',
        body,
        ...(headers && { headers }),
      })
    ).redirect,
  );
};

async function token(service: Service, fields: Readonly<Record<string, string>>) {
  const answer = await service.send({
    method: 'POST',
    path: '/oauth/token',
    key: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  const body = JSON.parse(answer.text) as { error?: string; access_token: string; refresh_token: string };
  for (const secret of [body.access_token, body.refresh_token]) if (secret) service.hide(secret);
  return { status: answer.status, ...body };
}

/** Connects an application for the user of the browser. */
async function connect(service: Service, browser: Browser, more: Readonly<Record<string, string>> = {}) {
  const clientId = await clientIdOf(service);
  const code = (await allow(browser, askFor(clientId, more))).searchParams.get('code') ?? '';
  const exchange = (change: Readonly<Record<string, string>> = {}) =>
    token(service, {
      grant_type: 'authorization_code',
      code,
      client_id: clientId,
      redirect_uri: RETURN,
      code_verifier: VERIFIER,
      ...change,
    });
  return {
    exchange,
    refresh: (refresh: string, ofClient = clientId) =>
      token(service, { grant_type: 'refresh_token', refresh_token: refresh, client_id: ofClient }),
  };
}

/** The ids of the projects that a token reads, or the status of the refusal. */
async function read(service: Service, access: string): Promise<readonly string[] | number> {
  const answer = await service.send({
    method: 'POST',
    path: '/mcp',
    key: access,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_projects' } }),
  });
  if (answer.status !== 200) return answer.status;
  const { result } = JSON.parse(answer.text) as {
    result: { structuredContent: { projects: { id: string }[] } };
  };
  return result.structuredContent.projects.map(({ id }) => id).sort();
}

describe('refused', () => {
  const service = sharedService();

  test.each([
    ['no address to return to', []],
    ['too many', Array.from({ length: redirectUrisMax + 1 }, (_, at) => `https://chat.example/${at}`)],
    ['a script', ['javascript:alert(1)']],
    ['a script of old browsers', ['vbscript:alert(1)']],
    ['a document', ['data:text/html,x']],
    ['a document in memory', ['blob:https://chat.example/1']],
    ['a page of the browser', ['about:blank']],
    ['a file of the browser', ['filesystem:https://chat.example/temporary/x']],
    ['the source of a page', ['view-source:https://chat.example/']],
    ['HTTP of another machine', ['http://chat.example/callback']],
    ['a fragment', ['https://chat.example/#x']],
    ['a user', ['https://me@chat.example/']],
    ['a relative one', ['/callback']],
    ['a long one', [`https://chat.example/${'x'.repeat(redirectUriCharactersMax)}`]],
    ['one of two', [RETURN, 'file:///etc/passwd']],
    ['what is not a text', [{ toString: 1 }]],
  ])('is a registration with %s', async (_what, uris) => {
    const answer = await register(service(), { client_name: 'Chat', redirect_uris: uris });
    expect([answer.status, answer.body['error']]).toEqual([400, 'invalid_client_metadata']);
  });

  test('is a name that changes the text around it', async () => {
    const body = { client_name: 'Chat\u202e', redirect_uris: [RETURN] };
    expect(await register(service(), body)).toMatchObject({
      status: 400,
      body: { error: 'invalid_client_metadata' },
    });
  });

  test('is an application with an id of its own making, or another address', async () => {
    const browser = await signedIn(service(), ada, 'owner');
    const clientId = await clientIdOf(service());
    const forged = `${Buffer.from(`Bank\n${clientId}`).toString('base64url')}.${clientId.split('.')[1]}`;
    for (const query of [
      `${askFor(clientId)}&client_id=${clientId}`,
      `${askFor(clientId)}&redirect_uri=https://evil.example/`,
      askFor(forged),
      askFor(clientId, { redirect_uri: 'https://evil.example/callback' }),
      askFor(clientId, { redirect_uri: `${RETURN}/more` }),
      askFor(''),
      'x',
    ])
      for (const path of ['/api/applications/look-up', '/api/applications']) {
        const body = path.endsWith('up') ? { query } : { query, allow: true };
        const answer = await browser.send({ path, body });
        expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(/not registered here/)]);
      }
    for (const [more, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge: '' }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
      ['state=x&scope=x', 'invalid_request'],
      ['scope=x&scope=x', 'invalid_request'],
    ] as const) {
      const query = typeof more === 'string' ? `${askFor(clientId)}&${more}` : askFor(clientId, more);
      const url = await allow(browser, query);
      expect([url.origin, url.searchParams.get('error'), url.searchParams.get('code')]).toEqual([
        'https://chat.example',
        error,
        null,
      ]);
    }
    const asked = await browser.ask({
      path: '/api/applications/look-up',
      body: { query: askFor(clientId) },
    });
    expect(asked).toEqual({ name: 'Chat', returnsTo: 'chat.example', redirect: null });
    const refused = await browser.ask<{ redirect: string }>({
      path: '/api/applications',
      body: { query: askFor(clientId), allow: false },
    });
    expect(new URL(refused.redirect).searchParams.get('error')).toBe('access_denied');
  });

  test('is to name a website where the person returns to an app', async () => {
    const browser = await signedIn(service(), 'hal@example.org', 'owner');
    for (const [address, returnsTo] of [
      ['https://chat.example:444/cb', 'chat.example:444'],
      ['http://localhost:7777/cb', 'localhost:7777'],
      ['evil://chat.example/cb', 'an app on this device (evil:)'],
      ['com.example.chat:/cb', 'an app on this device (com.example.chat:)'],
      ['https://chat.ex\u0430mple/cb', 'chat.xn--exmple-4nf'],
    ] as const) {
      const { body } = await register(service(), { client_name: 'Chat', redirect_uris: [address] });
      const query = askFor(String(body['client_id']), { redirect_uri: address });
      expect(await browser.ask({ path: '/api/applications/look-up', body: { query } })).toEqual({
        ...{ name: 'Chat', returnsTo, redirect: null },
      });
    }
  });

  test('is an address that differs in more than the port, and the port only on the own machine', async () => {
    const browser = await signedIn(service(), 'gil@example.org', 'owner');
    const { body } = await register(service(), {
      redirect_uris: ['http://localhost:80/cb', 'http://[::1]', 'https://chat.example:444/cb'],
    });
    const lookUp = async (redirect: string) => {
      const query = askFor(String(body['client_id']), { redirect_uri: redirect });
      return (await browser.send({ path: '/api/applications/look-up', body: { query } })).status;
    };
    for (const right of [
      'http://localhost/cb',
      'http://localhost:7777/cb',
      'http://[::1]:1',
      'https://chat.example:444/cb',
    ])
      expect([right, await lookUp(right)]).toEqual([right, 200]);
    for (const wrong of [
      'http://localhost/x/../cb',
      'HTTP://localhost/cb',
      'http://LOCALHOST/cb',
      'http://localhost/cb?',
      'http://127.0.0.1/cb',
      'http://[::1]/',
      'https://chat.example/cb',
      'https://chat.example:443/cb',
    ])
      expect([wrong, await lookUp(wrong)]).toEqual([wrong, 400]);
  });

  test('is a code with another verifier, address or application, and one that was used or is late', async () => {
    const browser = await signedIn(service(), 'bea@example.org', 'owner');
    const { exchange } = await connect(service(), browser);
    for (const change of [
      { code_verifier: 'w'.repeat(43) },
      { code_verifier: '' },
      { redirect_uri: 'https://evil.example/' },
      { client_id: await clientIdOf(service(), 'https://other.example/') },
      { code: 'cs-application-x.y' },
      { code: '' },
    ])
      expect(await exchange(change)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await exchange({ grant_type: 'password' })).toMatchObject({
      status: 400,
      error: 'unsupported_grant_type',
    });
    const { access_token: access } = await exchange();
    expect(await read(service(), access)).toEqual(['blog', 'docs']);
    // Somebody else has the code, too.
    expect(await exchange()).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await read(service(), access)).toBe(401);
    const late = await connect(service(), browser);
    service().clock.nowMs += applicationCodeSeconds * secondMs;
    expect(await late.exchange()).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test('is what is sent twice, whichever of the two is right', async () => {
    const browser = await signedIn(service(), 'fay@example.org', 'owner');
    const { exchange } = await connect(service(), browser);
    const { refresh_token: refresh } = await exchange();
    for (const more of ['refresh_token=x', 'grant_type=refresh_token', 'client_id=x', 'scope=x&scope=x'])
      for (const isLast of [true, false]) {
        const right = new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: refresh,
          client_id: await clientIdOf(service()),
        });
        const { status } = await service().send({
          method: 'POST',
          path: '/oauth/token',
          key: null,
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: isLast ? `${right}&${more}` : `${more}&${right}`,
        });
        expect([more, status]).toEqual([more, 400]);
      }
  });

  test('is a refresh token with the id of another application, or without one', async () => {
    const browser = await signedIn(service(), 'dora@example.org', 'owner');
    const { exchange, refresh } = await connect(service(), browser);
    const first = await exchange();
    for (const other of [await clientIdOf(service(), 'https://other.example/'), ''])
      expect(await refresh(first.refresh_token, other)).toMatchObject({
        status: 400,
        error: 'invalid_grant',
      });
    const second = await refresh(first.refresh_token);
    expect(await read(service(), second.access_token)).toEqual(['blog', 'docs']);
    expect(await refresh(second.refresh_token, '')).toMatchObject({ status: 400, error: 'invalid_grant' });
  });

  test.each(['grant_type', 'code', 'refresh_token', 'client_id', 'redirect_uri', 'code_verifier'])(
    'is a %s that is not a text',
    async (name) => {
      for (const value of [{ toString: 1 }, [{ toString: 1 }], 1, null])
        for (const grant of ['authorization_code', 'refresh_token']) {
          const { status, text } = await service().send({
            method: 'POST',
            path: '/oauth/token',
            key: null,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ grant_type: grant, [name]: value }),
          });
          expect([status, JSON.parse(text)]).toEqual([
            400,
            expect.objectContaining({ error: expect.any(String) }),
          ]);
        }
    },
  );

  test('is a token for anything but reading tools', async () => {
    const browser = await signedIn(service(), 'cleo@example.org', 'owner');
    const { exchange } = await connect(service(), browser, { scope: 'read write' });
    const tokens = await exchange();
    expect(tokens).toMatchObject({ status: 200, scope: 'read' });
    const { access_token: access, refresh_token: refresh } = tokens;
    for (const path of ['/v1/analytics/docs/assistant/caller-stats', '/api/sessions'])
      expect((await service().send({ path, key: access })).status).toBe(401);
    expect(await read(service(), refresh)).toBe(401);
    expect(await read(service(), `${access}x`)).toBe(401);
    expect(
      await read(
        service(),
        access.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
      ),
    ).toBe(401);
  });
});

test('a token is renewed, ends when it is used again late, and without use', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const { exchange, refresh } = await connect(service, browser);
  const first = await exchange();
  service.clock.nowMs += applicationAccessSeconds * secondMs;
  expect(await read(service, first.access_token)).toBe(401);
  // Of two windows, each renews it.
  const [one, two] = await Promise.all([refresh(first.refresh_token), refresh(first.refresh_token)]);
  for (const { access_token: access } of [one, two])
    expect(await read(service, access)).toEqual(['blog', 'docs']);
  expect(await browser.ask({ path: '/api/applications' })).toMatchObject({
    applications: [{ name: 'Chat' }],
  });
  service.clock.nowMs += applicationGraceSeconds * secondMs;
  const third = await refresh(two.refresh_token);
  expect(await read(service, third.access_token)).toEqual(['blog', 'docs']);
  expect(await refresh(first.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  expect(await read(service, third.access_token)).toBe(401);
  expect(await refresh(third.refresh_token)).toMatchObject({ status: 400 });
  const other = await (await connect(service, browser)).exchange();
  service.clock.nowMs += applicationLifeSeconds * secondMs;
  expect(await refresh(other.refresh_token)).toMatchObject({ status: 400 });
});

test('of too many connections of a person those used longest ago end, and all others are listed', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const access: string[] = [];
  for (let number = 0; number <= openingsMax; number++) {
    service.clock.nowMs += 1;
    access.push((await (await connect(service, browser)).exchange()).access_token);
  }
  const { applications } = await browser.ask<{ applications: object[] }>({ path: '/api/applications' });
  expect(applications).toHaveLength(openingsMax);
  const answers = await Promise.all(access.slice(0, 2).map((one) => read(service, one)));
  expect(answers).toEqual([401, expect.arrayContaining(['docs'])]);
});

test('a connection ends after a year, however much it is used', async () => {
  const service = await startService();
  const { exchange, refresh } = await connect(service, await signedIn(service, ada, 'owner'));
  let tokens = await exchange();
  const end = service.clock.nowMs + applicationConnectionSeconds * secondMs;
  const step = (applicationLifeSeconds - applicationAccessSeconds) * secondMs;
  for (; service.clock.nowMs + step < end; tokens = await refresh(tokens.refresh_token))
    service.clock.nowMs += step;
  service.clock.nowMs = end - secondMs;
  tokens = await refresh(tokens.refresh_token);
  expect(await read(service, tokens.access_token)).toEqual(['blog', 'docs']);
  service.clock.nowMs = end;
  expect(await read(service, tokens.access_token)).toBe(401);
  expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
});

test('each call of a batch counts for the rate limit of the person, with what they do on pages, whichever application sends it', async () => {
  const service = await startService({ limits: { requestsPerMinute: 9 } });
  const owner = await signedIn(service, ada, 'owner');
  const [one, other] = [await connect(service, owner), await connect(service, owner)];
  const batch = async ({ exchange }: typeof one, calls: number) =>
    service.send({
      method: 'POST',
      path: '/mcp',
      key: (await exchange()).access_token,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(
        Array.from({ length: calls }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })),
      ),
    });
  const { status, headers } = await batch(one, 3);
  expect([status, headers['ratelimit']]).toEqual([200, expect.stringMatching(/;r=4;/)]);
  expect((await batch(other, 5)).status).toBe(429);
});

test('a token reads what its person may read now, until they disconnect it or set a new password', async () => {
  const service = await startService();
  const { directory } = service.store;
  const owner = await signedIn(service, ada, 'owner');
  const bob = await signedIn(service, 'bob@example.org', 'viewer');
  const { access_token: access } = await (await connect(service, bob)).exchange();
  expect(await read(service, access)).toEqual(['blog', 'docs']);
  const inRival = await invite(service, 'bob@example.org', 'viewer', 'rival');
  await bob.ask({ path: '/api/invitations/accept', body: { token: inRival } }, 204);
  expect(await read(service, access)).toEqual(['blog', 'docs', 'rival-docs']);
  await owner.ask({
    method: 'PATCH',
    path: '/api/organizations/default/members/bob@example.org',
    body: { role: 'reader', projects: ['blog'] },
  });
  expect(await read(service, access)).toEqual(['blog', 'rival-docs']);
  await directory.changeOrganization(
    'rival',
    { secondFactor: 'required' },
    { name: 'test', address: null, at: 0 },
  );
  expect(await read(service, access)).toEqual(['blog']);
  await owner.ask({ method: 'DELETE', path: '/api/organizations/default/members/bob@example.org' });
  expect(await read(service, access)).toEqual([]);

  const [mine, second] = [await connect(service, owner), await connect(service, owner)];
  const [myTokens, { access_token: ended }] = [await mine.exchange(), await second.exchange()];
  const { access_token: kept } = myTokens;
  const list = async () =>
    (await owner.ask<{ applications: { id: string }[] }>({ path: '/api/applications' })).applications;
  const [latest] = await list();
  expect(latest?.id).toMatch(/^[0-9a-f]{32}$/);
  const end = (browser: Browser, id = '') =>
    browser.send({ method: 'DELETE', path: `/api/applications/${id}` });
  expect((await end(bob, latest?.id)).status).toBe(404);
  expect((await end(owner, 'a')).status).toBe(404);
  for (const { id } of (await list()).slice(0, 1)) expect((await end(owner, id)).status).toBe(204);
  expect(await list()).toHaveLength(1);
  expect([await read(service, kept), await read(service, ended)]).toContain(401);
  const details = (await auditOf(service)).filter(({ action }) => action === 'user.application');
  expect(details.map(({ actor, detail }) => `${actor} ${detail}`)).toEqual([
    `${ada} disconnected: Chat`,
    `${ada} connected: Chat`,
    `${ada} connected: Chat`,
    'bob@example.org connected: Chat',
  ]);
  const passwords = { password: PASSWORD, newPassword: `${PASSWORD} and more` };
  await owner.ask({ path: '/api/account/password', body: passwords }, 204);
  expect([await read(service, kept), await read(service, ended)]).toEqual([401, 401]);
  expect(await mine.refresh(myTokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  expect(await owner.ask({ path: '/api/applications' })).toEqual({ applications: [] });

  const cleo = await signedIn(service, 'cleo@example.org', 'viewer');
  const connected = await connect(service, cleo);
  const { access_token: open, refresh_token: renews } = await connected.exchange();
  expect(await read(service, open)).toEqual(['blog', 'docs']);
  await owner.signIn(ada, `${PASSWORD} and more`);
  await owner.ask({ path: '/api/organizations/default/members/cleo@example.org/end-sessions', body: {} });
  expect(await read(service, open)).toBe(401);
  expect((await connected.refresh(renews)).status).toBe(400);
});

test('a link that sets a new password ends what the account allowed before', async () => {
  const service = await startService();
  // The library has a clock of its own, by which connections of long ago end anyway.
  service.clock.nowMs = Date.now();
  const { exchange, refresh } = await connect(service, await signedIn(service, ada, 'owner'));
  const tokens = await exchange();
  expect(await read(service, tokens.access_token)).toEqual(['blog', 'docs']);
  const { credentials } = usersOf(service.store);
  const token = await credentials.startPasswordReset(ada);
  for (const secret of [token, `${PASSWORD} and more`]) service.hide(secret);
  const body = { token, password: `${PASSWORD} and more` };
  await new Browser(service).ask({ path: '/api/password-reset', body }, 204);
  expect(await read(service, tokens.access_token)).toBe(401);
  expect(await refresh(tokens.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
});

test('a token reads nothing once its account is gone, also if the address has another account then', async () => {
  const service = await startService();
  const bob = 'bob@example.org';
  const { exchange, refresh } = await connect(service, await signedIn(service, bob, 'viewer'));
  const tokens = await exchange();
  expect(await read(service, tokens.access_token)).toEqual(['blog', 'docs']);
  await usersOf(service.store).users.remove(bob);
  expect(await read(service, tokens.access_token)).toBe(401);
  const next = new Browser(service);
  const token = await invite(service, bob, 'editor', 'rival');
  const account = { token, name: 'Another Bob', password: PASSWORD };
  await next.ask({ path: '/api/invitations/accept', body: account }, 204);
  expect(await read(service, tokens.access_token)).toBe(401);
  const { access_token: renewed = '' } = await refresh(tokens.refresh_token);
  expect(await read(service, renewed)).toBe(401);
  expect(await next.ask({ path: '/api/applications' })).toEqual({ applications: [] });
});

test('a registration stores nothing', async () => {
  const service = await startService();
  // The server keeps its own secret when it first signs.
  await clientIdOf(service);
  const calls: { method: string; parameters: readonly unknown[] }[] = [];
  const { status } = await callsWithin.run(calls, () =>
    register(service, { client_name: 'Chat', redirect_uris: [RETURN] }),
  );
  expect(status).toBe(201);
  const called = calls.map(({ method, parameters: [first] }) =>
    method === 'run' ? `run ${(first as { sql: string }).sql}` : method,
  );
  expect(called.filter((name) => !/^(?:find|list|read|is|check|run select )/i.test(name))).toEqual([]);
});

test('a second factor opens nothing for an application that was allowed without it', async () => {
  const service = await startService();
  const owner = await signedIn(service, ada, 'owner');
  const thief = new Browser(service, '198.51.100.7');
  await thief.signIn(ada);
  const { exchange, refresh } = await connect(service, thief);
  const tokens = await exchange();
  expect(await read(service, tokens.access_token)).toEqual(['blog', 'docs']);
  const { uri, backupCodes } = await owner.ask<{ uri: string; backupCodes: string[] }>({
    path: '/api/account/second-factor/start',
    body: { password: PASSWORD },
  });
  for (const code of backupCodes) service.hide(code);
  await owner.ask({ path: '/api/account/second-factor/confirm', body: { code: codeNow(uri) } }, 204);
  await owner.ask({
    method: 'PATCH',
    path: '/api/organizations/default',
    body: { secondFactor: 'required' },
  });
  expect(await read(service, tokens.access_token)).toBe(401);
  expect((await refresh(tokens.refresh_token)).status).toBe(400);
  const { access_token: proved } = await (await connect(service, owner)).exchange();
  expect(await read(service, proved)).toEqual(['blog', 'docs']);
});

test('the official client connects as a person', async () => {
  const service = await startService();
  const browser = await signedIn(service, ada, 'owner');
  const url = new URL('/mcp', await service.origin());
  const plain = await fetch(url, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  });
  expect([plain.status, plain.headers.get('www-authenticate')]).toEqual([
    401,
    `Bearer resource_metadata="${url.origin}/.well-known/oauth-protected-resource"`,
  ]);
  let asked: URL | undefined;
  let information: OAuthClientInformationMixed | undefined;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  const provider: OAuthClientProvider = {
    redirectUrl: 'http://localhost:7777/callback',
    clientMetadata: { client_name: 'Official client', redirect_uris: ['http://localhost:7777/callback'] },
    state: () => 'state',
    clientInformation: () => information,
    saveClientInformation: (given) => {
      information = given;
    },
    tokens: () => tokens,
    saveTokens: (given) => {
      tokens = given;
    },
    redirectToAuthorization: (to) => {
      asked = to;
    },
    saveCodeVerifier: (given) => {
      verifier = given;
    },
    codeVerifier: () => verifier,
  };
  const connecting = new StreamableHTTPClientTransport(url, { authProvider: provider });
  await expect(new Client({ name: 'test', version: '1.0.0' }).connect(connecting)).rejects.toThrow();
  expect(asked?.pathname).toBe('/connect');
  const back = await allow(browser, asked?.search.slice(1) ?? '', url);
  expect([back.origin, back.searchParams.get('state')]).toEqual(['http://localhost:7777', 'state']);
  await connecting.finishAuth(back.searchParams);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('get_caller_stats');
  const { structuredContent } = await client.callTool({
    name: 'get_caller_stats',
    arguments: { projectId: 'docs' },
  });
  expect(structuredContent).toMatchObject({ total: 0 });
  await client.close();
});

test('below a base path, what describes a path stands before it', async () => {
  const { send } = await startService({ basePath: '/stats', users: { publicUrl: 'https://example.org' } });
  const answers = await Promise.all(
    [
      '/stats/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/stats/mcp',
      '/.well-known/oauth-authorization-server/stats',
    ].map((path) => send({ path, key: null })),
  );
  const issuer = 'https://example.org/stats';
  const resource = {
    ...{ resource: `${issuer}/mcp`, authorization_servers: [issuer] },
    scopes_supported: ['read'],
  };
  expect(answers.map(({ text }) => JSON.parse(text) as object)).toMatchObject([
    resource,
    resource,
    { issuer, token_endpoint: `${issuer}/oauth/token`, registration_endpoint: `${issuer}/oauth/register` },
  ]);
  for (const path of [
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-authorization-server/statsother',
  ])
    expect((await send({ path, key: null })).status).toBe(404);
});
