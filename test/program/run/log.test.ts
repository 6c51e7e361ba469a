/** The log and its secrecy. `startService` also checks the whole log at the end of each test. */
import { readdirSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../../src/cli/terminal/log.js';
import { placeWithProject } from '../../support/cli/cli-place.js';
import { Browser, signedIn } from '../../support/http/dashboard.js';
import { QUERIES, type Service, STATS, sharedService, startService } from '../../support/http/http.js';
import { requireNoKey } from '../../support/secrets.js';
import { runOnUsers } from '../../support/users/people.js';

const percentEncode = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');

describe('the log does not contain a key that is sent', () => {
  const service = sharedService();
  test.each<[string, (key: string) => string]>([
    ['as a parameter', (key) => `${STATS}?api_key=${key}`],
    ['as the name of a parameter', (key) => `${STATS}?${key}`],
    ['percent-encoded', (key) => `${STATS}?key=${key.replaceAll('_', '%5F')}`],
    ['percent-encoded in small letters', (key) => `${STATS}?key=${key.replaceAll('_', '%5f')}`],
    ['percent-encoded letter by letter', (key) => `${STATS}?key=${percentEncode(key)}`],
    ['percent-encoded twice', (key) => `${STATS}?key=${percentEncode(key).replaceAll('%', '%25')}`],
    ['percent-encoded, and then its signs', (key) => `/${percentEncode(percentEncode(key))}`],
    ['percent-encoded again and again', (key) => `/${[1, 2, 3, 4].reduce(percentEncode, key)}`],
    ['as the project', (key) => STATS.replace('docs', key)],
    ['as the path', (key) => `/${key}`],
    ['twice', (key) => `/${key}/${key}?key=${key}&key=${key}`],
    ['without its last characters', (key) => `/${key.slice(0, -10)}`],
    ['with extra characters', (key) => `/${key}more`],
  ])('%s', async (_what, pathOf) => {
    const { send, keys, log } = service();
    for (const secret of Object.values(keys)) {
      const before = log().length;
      for (const key of [keys.admin, null]) await send({ path: pathOf(secret), key });
      await send({ method: 'POST', path: pathOf(secret), key: null });
      const logged = log().slice(before);
      expect(logged, 'the requests are logged').toContain('incoming request');
      requireNoKey(logged, Object.values(keys), 'the log');
    }
  });

  test.each(['user-agent', 'referer', 'cookie', 'x-api-key', 'x-forwarded-for', 'accept-version'])(
    'in the header %s',
    async (name) => {
      const { send, keys, log } = service();
      await send({ headers: { [name]: keys.admin } });
      await send({ method: 'POST', path: QUERIES, headers: { [name]: keys.recording } });
      requireNoKey(log(), Object.values(keys), 'the log');
    },
  );

  test('the log contains no token, wherever an address has it', async () => {
    const { send, log } = service();
    const token = 'Xk29'.repeat(11).slice(1);
    const ofApplication = `cs-application-${'0a1b'.repeat(8)}.${'c2d3'.repeat(8)}.own.1796000000.${token}`;
    for (const secret of [token, ofApplication, percentEncode(token)])
      for (const path of [
        `/share//${secret}`,
        `/share/%2f${secret}`,
        `/share?token=${secret}`,
        `/join/${secret}`,
        `/join%23${secret}`,
        `/set-up?${secret}`,
        `/reset;${secret}`,
        `/mcp?access_token=${secret}`,
        `/?refresh_token=${secret}`,
      ])
        await send({ path, key: null });
    expect(log()).toContain('"/join/k29X…"');
    expect(log()).not.toMatch(/(Xk29|k29X|29Xk|9Xk2|0a1b|c2d3){3}/);
  });

  test('the log contains no e-mail address, wherever a URL has it', async () => {
    const { send, log } = service();
    for (const address of ['ada@example.org', 'ada%40example.org', 'a%64a%2540example.org'])
      for (const path of [
        `/api/organizations/default/members/${address}`,
        `/?to=${address}&x=1`,
        `/${address}`,
      ])
        await send({ method: 'DELETE', path, key: null });
    expect(log()).toContain('"/api/organizations/default/members/…@…"');
    expect(log()).not.toMatch(/ada|example\.org/);
  });

  test('the log contains no code with which a provider sends a person back', async () => {
    const { send, log } = service();
    for (const query of ['state=some-state&code=a-code-of-theirs', 'CODE=a%2Dcode-of-theirs&iss=x'])
      await send({ path: `/api/sign-in/oidc/callback/sso?${query}`, key: null });
    expect(log()).toContain('/callback/sso?state=some');
    expect(log()).not.toMatch(/of-theirs|some-state/);
  });

  test('the log has the method, URL and status of each request at debug level', async () => {
    const { send, log } = service();
    await send({ path: `${STATS}?dateFrom=2026-01-01&admin=1` });
    const line =
      log()
        .split('\n')
        .findLast((one) => one.includes('incoming request')) ?? '';
    const { reqId, req } = JSON.parse(line);
    expect(req).toEqual({ method: 'GET', url: `${STATS}?dateFrom=2026-01-01&admin=1` });
    expect(reqId).toMatch(/^req-\w+-\w+$/);
    const lines = log()
      .split('\n')
      .filter((one) => one.includes(`"reqId":"${reqId}"`))
      .map((one) => JSON.parse(one));
    expect(lines).toMatchObject([
      { level: 20, msg: 'incoming request' },
      { level: 20, msg: 'request completed', res: { statusCode: 400 }, responseTime: expect.any(Number) },
    ]);
  });

  test('the log has the key or user of each accepted request at debug level', async () => {
    const { send, keys, log } = service();
    const before = log().length;
    await send();
    await send({ method: 'POST', path: QUERIES, key: keys.recording, body: '[]' });
    await (await signedIn(service(), 'bea@example.org', 'viewer')).ask({ path: '/api/sessions' });
    const completed = log()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"request completed"'))
      .map((line) => JSON.parse(line));
    const [{ id: userId } = {}] = (await runOnUsers(service().store, 'SELECT id FROM {user_account}')).rows;
    expect(completed).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ keyId: 'admin', keyName: 'admin' }),
        expect.objectContaining({ keyId: 'recording', keyName: 'recording' }),
        expect.objectContaining({ userId }),
      ]),
    );
  });

  test.each([
    ['GET', '/nothing', 404],
    ['HEAD', '/nothing', 404],
    ['HEAD', '/livez', 200],
    ['GET', QUERIES, 200],
    ['HEAD', QUERIES, 200],
    ['DELETE', STATS, 405],
    ['PURGE', '/nothing', 404],
    ['PURGE', STATS, 405],
  ])('%s %s is logged once', async (method, path, statusCode) => {
    const { send, log } = service();
    const before = log().length;
    await send({ method, path });
    const lines = log()
      .slice(before)
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one))
      .filter(({ level, reqId }) => level === 20 && reqId !== undefined);
    expect(lines).toMatchObject([
      { reqId: expect.stringMatching(/^req-/), msg: 'incoming request', req: { method, url: path } },
      { reqId: lines[0].reqId, msg: 'request completed', res: { statusCode } },
    ]);
  });
});

describe('a refused request is logged, with its sender,', () => {
  /** The fields of the lines since `before`, without those of every line and the id of the request. */
  const refusalsSince = ({ log }: Pick<Service, 'log'>, before: number): unknown[] =>
    log()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"request refused"'))
      .map((line) => JSON.parse(line))
      .map(({ level, time, pid, hostname, reqId, msg, ...fields }) => ({ ...fields, level }));
  const analytics = '/v1/analytics/:projectId/assistant';
  const refused = (fields: object) => ({ level: 40, unwritten: 0, ...fields });
  const named = (name: string) => ({ keyId: name, keyName: name });

  test('if it has no right', async () => {
    const service = await startService();
    await service.addKey('counts', { type: 'admin', scopes: ['read'] });
    const listed = await service.addKey('listed', { type: 'admin', allow: ['192.0.2.1'] });
    const reading = await service.addKey('reading', { type: 'reading', projectId: 'docs' });
    const before = service.log().length;
    await service.send({ key: 'none' });
    await service.send({ method: 'PUT', key: 'none' });
    await service.send({ key: listed, from: '198.51.100.1' });
    await service.send({ key: reading, path: STATS.replace('docs', 'blog') });
    const tool = { name: 'get_caller_stats', arguments: { projectId: 'blog' } };
    await service.send({
      method: 'POST',
      path: '/mcp',
      key: reading,
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool }),
    });
    const viewer = await signedIn(service, 'eve@example.org', 'viewer');
    const members = '/api/organizations/default/members';
    await viewer.ask({ path: '/api/organizations/default/projects', body: {} }, 403);
    await viewer.ask({ path: members.replace('default', 'rival') }, 404);
    const [{ id } = {}] = (await runOnUsers(service.store, 'SELECT id FROM {user_account}')).rows;
    const route = `${analytics}/caller-stats`;
    expect(refusalsSince(service, before)).toEqual([
      refused({ method: 'GET', route, status: 401, reason: 'key-unknown' }),
      refused({ method: 'PUT', route, status: 401, reason: 'key-unknown' }),
      refused({ method: 'GET', route, status: 403, ...named('listed'), reason: 'key-address' }),
      refused({ method: 'GET', route, status: 404, ...named('reading'), reason: 'other-project' }),
      refused({ method: 'POST', route: '/mcp', status: 404, ...named('reading') }),
      refused({
        method: 'POST',
        route: '/api/organizations/:organizationId/projects',
        status: 403,
        userId: id,
      }),
      refused({
        method: 'GET',
        route: '/api/organizations/:organizationId/members',
        status: 404,
        userId: id,
      }),
    ]);
  });

  test('if it is invalid, comes from another site, or is above a limit, but not to an unknown path', async () => {
    const service = await startService({ limits: { requestsPerMinute: 2 } });
    const before = service.log().length;
    await service.send({ path: `${STATS}?dateFrom=never` });
    await service.record([{ id: '' }]);
    await service.send();
    const origin = 'https://elsewhere.example';
    await new Browser(service).send({ path: '/api/sign-in', body: {}, headers: { origin } });
    await service.sendRaw('GET / HTTP/1.1\r\nnonsense\r\n\r\n', { connectionError: true });
    await service.send({ path: '/wp-login.php' });
    const key = named('admin');
    expect(refusalsSince(service, before)).toEqual([
      refused({ method: 'GET', route: `${analytics}/caller-stats`, status: 400, ...key, reason: 'invalid' }),
      refused({
        method: 'POST',
        route: `${analytics}/queries`,
        status: 400,
        ...key,
        reason: 'query-id,query-caller',
      }),
      refused({
        method: 'GET',
        route: `${analytics}/caller-stats`,
        status: 429,
        ...key,
        reason: 'rate-limit',
      }),
      refused({ method: 'POST', route: '/api/sign-in', status: 403 }),
      refused({ status: 400 }),
    ]);
  });

  test('once in ten seconds, for each sender, route and status', async () => {
    const service = await startService();
    const other = await service.addKey('other', { type: 'admin' });
    const before = service.log().length;
    const path = `${STATS}?dateFrom=never`;
    for (let times = 0; times < 5; times++) await service.send({ path });
    await service.send({ path, key: other });
    service.clock.nowMs += 10_000;
    await service.send({ path });
    expect(refusalsSince(service, before)).toMatchObject([
      { unwritten: 0 },
      { unwritten: 0, keyId: 'other' },
      { unwritten: 4 },
    ]);
  });
});

test('the log contains neither the address of a client nor the Host header', async () => {
  const service = await startService();
  await service.send({ from: '203.0.113.9', headers: { host: 'reader.example' } });
  await service.send({
    from: '203.0.113.9',
    headers: { host: 'reader.example' },
    key: 'none',
    path: '/none',
  });
  expect(service.log()).toContain('incoming request');
  expect(service.log()).not.toMatch(/203\.0\.113\.9|reader\.example/);
});

describe('the check of the log', () => {
  const service = sharedService();
  test.each<[string, (key: string) => string]>([
    ['a key', (key) => `x ${key} x`],
    ['a key that does not exist', () => `"cs_admin_${'0'.repeat(49)}"`],
    ['a key without its visible start', (key) => key.slice(14)],
    ['the first half of the hidden part', (key) => key.slice(13, 33)],
  ])('finds %s', (_what, textOf) => {
    const { keys } = service();
    expect(() => requireNoKey(textOf(keys.admin), [keys.admin], 'the log')).toThrow('in the log');
  });

  test('allows the visible parts of a key', () => {
    const { keys } = service();
    const shown = `${keys.admin.slice(0, 13)}…${keys.admin.slice(-4)}`;
    expect(() => requireNoKey(shown, [keys.admin], 'the log')).not.toThrow();
  });
});

describe('what somebody sent commands no terminal, reorders nothing and begins no line of the log', () => {
  const sent = 'a\r\n[2026-01-01] INFO: forged\u001b[2J\u009b31m\u0085\u2028\u202eb\u007f';
  test.each([true, false])('on a terminal: %s', async (interactive) => {
    const stderr = new PassThrough({ encoding: 'utf8' });
    const log = await openLog({ logLevel: 'info' }, { stderr, interactive, colors: false });
    log.warn({ problems: [sent], err: new Error(sent) }, sent);
    const written: string = stderr.read();
    expect(written).toContain('forged');
    expect(written.trimEnd()).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]|^\[2026-01-01/mu);
    if (interactive) return;
    // One line, in whatever way a program splits it, with all that was sent.
    expect(written.trimEnd()).not.toMatch(/[\n\u2028]/);
    expect(JSON.parse(written)).toMatchObject({ msg: sent, problems: [sent], err: { message: sent } });
  });
});

test('a server logs to standard error, and makes no file but its database and its secret', async () => {
  const place = await placeWithProject();
  const server = await place.spawnServer(['--log-level', 'debug']);
  const before = server.stdout;
  for (const path of ['/livez', '/nowhere', STATS, '/api/session', '/sign-in', '/docs/', '/openapi.json'])
    await fetch(`${server.url}${path}`, { headers: { authorization: 'Bearer cs_admin_x' } });
  await fetch(`${server.url}/api/sign-in`, {
    method: 'POST',
    headers: { origin: server.url, 'content-type': 'application/json' },
    body: '{"email":"ada@example.org","password":"wrong"}',
  });
  const files = readdirSync(place.folder, { recursive: true }).map(String).toSorted();
  expect(files).toEqual([
    'caller-stats.db',
    'caller-stats.db-shm',
    'caller-stats.db-wal',
    'caller-stats.db.secret',
  ]);
  const { stdout, stderr } = await server.stop();
  expect(stdout).toBe(before);
  expect(stderr).toContain('"request refused"');
});
