/** Share links: who gets what with the address of one, and what it never shows. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  addressFailuresMax,
  guessWindowSeconds,
  shareGuessesMax,
  shareTicketSeconds,
} from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { auditOf, Browser, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import {
  CALLERS,
  detailsOf,
  errorOf,
  SERIES,
  type Service,
  STATS,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import { open, SHARE_LINKS, share } from '../../support/http/share-links.js';
import { by } from '../../support/storage/entities.js';

const ada = 'ada@example.org';
const page = { accept: 'text/html' };

async function start(options = {}): Promise<{ service: Service; editor: Browser }> {
  const service = await startService(options);
  return { service, editor: await signedIn(service, ada, 'editor') };
}

/** Sends a password for the link and returns the answer. */
function unlock(service: Service, token: string, password: unknown, from?: string) {
  return new Browser(service, from).send({ path: `/api/shared/${token}/unlock`, body: { password } });
}

async function ticketOf(service: Service, token: string): Promise<string> {
  const { status, text } = await unlock(service, token, PASSWORD);
  expect(status).toBe(200);
  return (JSON.parse(text) as { ticket: string }).ticket;
}

const bearer = (ticket: string) => ({ authorization: `Bearer ${ticket}` });

const REPORTS = ['/caller-stats', '/series', '/callers', '/numbers', '/week-hours', '/imported-counts'];

describe('creating a share link', () => {
  test('refuses invalid fields, naming each, and projects of others', async () => {
    const { service, editor } = await start({ keyLifeMax: 30 * dayMs });
    const cases: readonly (readonly [body: object, expected: readonly RegExp[]])[] = [
      [{}, [/^name: /]],
      [
        { name: 'x', expire: '1d', password: 1, origins: 'y' },
        [/^"expire": .*expires/, /^password: /, /^origins: /],
      ],
      [
        { name: '\u200b', expires: 'soon', origins: ['docs.example.com'] },
        [/^name: /, /^expires: /, /^origins: "docs/],
      ],
      [{ name: 'x', expires: 'never' }, [/^expires: is later than/]],
      [{ name: 'x', password: 'short' }, [/^password: has fewer than 12/]],
      [{ name: 'x', password: 'password1234' }, [/^password: is one that many people use/]],
      [
        { name: 'x', origins: Array.from({ length: 11 }, (_, at) => `https://${at}.test`) },
        [/^origins: has more than 10/],
      ],
      ...[
        '*',
        "'self'",
        'https://*.test',
        'https://a.test/path',
        'https://a.test;script-src',
        'ftp://a.test',
        'https://u@a.test',
        'https://[::1]',
        'https://a.test,https://b.test',
        'null',
        '',
      ].map((origin) => [{ name: 'x', origins: [origin] }, [/^origins: .* is not an origin/]] as const),
    ];
    for (const [body, expected] of cases) {
      const answer = await editor.send({ path: SHARE_LINKS, body });
      expect(answer.status, JSON.stringify(body)).toBe(400);
      expect(detailsOf(answer)).toEqual(expected.map((one) => expect.stringMatching(one) as string));
    }
    for (const project of ['rival-docs', 'none', 'a%2Fb'])
      for (const body of [undefined, { name: 'x' }])
        expect((await editor.send({ path: SHARE_LINKS.replace('docs', project), body })).status).toBe(404);
    expect(await service.store.directory.listShareLinks('default', 'docs')).toEqual([]);
  });

  test('shows the token once, and stores neither token nor password', async () => {
    const { service, editor } = await start();
    const { link, token } = await share(service, editor, {
      password: PASSWORD,
      origins: ['https://Docs.example.com/', 'http://localhost:3000', 'https://docs.example.com'],
      expires: '7d',
    });
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(link).toEqual({
      id: link.id,
      name: 'Board',
      end: token.slice(-4),
      hasPassword: true,
      origins: ['http://localhost:3000', 'https://docs.example.com'],
      createdBy: ada,
      createdAt: '2026-06-15T12:00:00.000Z',
      expiresAt: '2026-06-22T12:00:00.000Z',
      isExpired: false,
    });
    expect(await editor.ask({ path: SHARE_LINKS })).toEqual({ links: [link] });
    const stored = JSON.stringify([
      await service.store.directory.listShareLinks('default', 'docs'),
      await auditOf(service),
    ]);
    expect(stored).not.toContain(token);
    expect(stored).not.toContain(PASSWORD);
    await editor.ask({ path: `/api/organizations/default/share-links/${link.id}`, method: 'DELETE' }, 204);
    const entries = await auditOf(service);
    expect(entries.slice(0, 2).map(({ action, actor, targetId }) => [action, actor, targetId])).toEqual([
      ['share_link.revoke', ada, link.id],
      ['share_link.create', ada, link.id],
    ]);
  });
});

describe('a share link', () => {
  test.each(['revoked', 'expired', 'of a deleted project', 'mistyped', 'cut', 'with the id of its link'])(
    'that is %s shows nothing, and says no more',
    async (what) => {
      const { service, editor } = await start();
      const { link, token } = await share(service, editor, { expires: '7d', origins: ['https://a.test'] });
      expect((await open(service, token)).status).toBe(200);
      if (what === 'revoked') await service.store.directory.revokeShareLink('default', link.id, by);
      if (what === 'expired') service.clock.nowMs += 7 * dayMs;
      if (what === 'of a deleted project') await service.store.directory.deleteProject('default', 'docs', by);
      const tried =
        {
          mistyped: `${token.slice(1)}${token[0]}x`.slice(0, 43),
          cut: token.slice(0, -1),
          'with the id of its link': link.id,
        }[what] ?? token;
      for (const path of ['', ...REPORTS]) {
        const { status, text } = await open(service, tried, path);
        expect([status, text]).toEqual([
          404,
          '{"error":"This link does not work: it has expired, was revoked, or is incomplete."}',
        ]);
      }
      expect((await unlock(service, tried, PASSWORD)).status).toBe(404);
      for (const path of ['.csv', '/callers.csv', ''])
        expect((await service.send({ path: `/share/${tried}${path}`, key: null })).status).toBe(404);
      const shown = await service.send({ path: `/share/${tried}`, key: null, headers: page });
      expect([shown.status, shown.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(shown.headers['x-frame-options']).toBe('DENY');
    },
  );

  test('opens no other route, neither as a key, a ticket nor a cookie', async () => {
    const { service, editor } = await start();
    const { token } = await share(service, editor, { password: PASSWORD });
    const ticket = await ticketOf(service, token);
    for (const secret of [token, ticket]) {
      for (const path of [
        STATS,
        SERIES,
        CALLERS,
        '/api/sessions',
        '/api/organizations/default/projects',
        SHARE_LINKS,
        SHARE_LINKS.replace('share-links', 'series'),
      ]) {
        const headers = { ...bearer(secret), cookie: `caller-stats.session_token=${secret}` };
        expect((await service.send({ path, key: null, headers })).status, path).toBe(401);
      }
      expect((await service.send({ method: 'POST', path: '/mcp', key: secret, body: '{}' })).status).toBe(
        401,
      );
    }
  });

  test('reads the counts of its project only, whatever the request names', async () => {
    const { service, editor } = await start();
    await service.record({ id: 'mine', caller: 'web' });
    await service.store.counts.record('blog', [{ id: 'theirs', caller: 'api', occurredAt: startMs }]);
    const { token } = await share(service, editor);
    expect(JSON.parse((await open(service, token, '/caller-stats')).text)).toMatchObject({
      web: 1,
      total: 1,
    });
    const named = await open(service, token, '/caller-stats?projectId=blog');
    expect(detailsOf(named)).toEqual([expect.stringMatching(/^"projectId": /)]);
    const sent = await open(service, token, '/caller-stats', { 'caller-stats-project': 'blog' });
    expect(JSON.parse(sent.text)).toMatchObject({ total: 1, web: 1 });
    expect((await service.send({ path: `/api/shared/${token}/ingestion`, key: null })).status).toBe(404);
  });

  test('shows nothing of the organization but the project’s name and time zone', async () => {
    const { service, editor } = await start({ limits: { requestsPerMinute: 50 } });
    await service.store.directory.changeOrganization('default', { name: 'Acme Secret' }, by);
    await service.store.directory.changeProject(
      'default',
      'docs',
      { name: 'Handbook', timeZone: 'Europe/Berlin' },
      by,
    );
    const { token } = await share(service, editor);
    const { text } = await open(service, token);
    expect(JSON.parse(text)).toEqual({
      name: 'Handbook',
      timeZone: 'Europe/Berlin',
      weekStart: null,
      servesCsv: true,
    });
    const answers = await Promise.all([
      ...['', ...REPORTS].map((path) => open(service, token, path)),
      ...['', '.csv', '/callers.csv'].map((path) =>
        service.send({ path: `/share/${token}${path}`, key: null }),
      ),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const everything = JSON.stringify([answer.headers, answer.text]);
      for (const secret of ['Acme', '"default"', ada, '1.2.3', 'blog', '"docs"', 'ratelimit', 'set-cookie'])
        expect(everything).not.toContain(secret);
      expect(answer.headers['referrer-policy']).toBe('no-referrer');
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });

  test('has a limit for each address, which takes nothing from the keys of its organization', async () => {
    const { service, editor } = await start({ limits: { requestsPerMinute: 2 } });
    const { token } = await share(service, editor);
    const statuses: number[] = [];
    for (let at = 0; at < 3; at++) statuses.push((await open(service, token)).status);
    expect(statuses).toEqual([200, 200, 429]);
    const elsewhere = { path: `/api/shared/${token}`, key: null, from: '192.0.2.7' };
    expect((await service.send(elsewhere)).status).toBe(200);
    expect((await open(service, (await share(service, editor)).token)).status).toBe(200);
    expect((await service.record([{ id: 'a', caller: 'web' }])).status).toBe(200);
  });

  test('cannot be guessed quickly from one address', async () => {
    const { service } = await start({ limits: { failuresPerMinute: 3 } });
    const statuses: number[] = [];
    for (const path of ['/api/shared/a', '/share/b', '/share/c.csv', '/share/d', '/api/shared/e'])
      statuses.push((await service.send({ path, key: null, from: '192.0.2.7' })).status);
    expect(statuses).toEqual([404, 404, 404, 429, 429]);
  });
});

describe('the page of a share link', () => {
  test('may be embedded on the origins that were named, and on no others', async () => {
    const { service, editor } = await start();
    const plain = await share(service, editor);
    const embeddable = await share(service, editor, { origins: ['https://b.test', 'http://localhost:3000'] });
    const policyOf = async (token: string) => {
      const { status, headers, text } = await service.send({
        path: `/share/${token}`,
        key: null,
        headers: page,
      });
      expect([status, headers['x-robots-tag']]).toEqual([200, 'noindex']);
      expect(text).toContain('<meta name="referrer" content="no-referrer"');
      return [
        /frame-ancestors .*/.exec(headers['content-security-policy'] ?? '')?.[0],
        headers['x-frame-options'],
      ];
    };
    expect(await policyOf(plain.token)).toEqual(["frame-ancestors 'none'", 'DENY']);
    expect(await policyOf(embeddable.token)).toEqual([
      'frame-ancestors http://localhost:3000 https://b.test',
      undefined,
    ]);
    // The counts themselves, and the rest of the dashboard, cannot be embedded.
    for (const path of [`/api/shared/${embeddable.token}`, '/', '/sign-in'])
      expect((await service.send({ path, key: null })).headers['x-frame-options']).toBe('DENY');
  });
});

test('a server serves only the links that its rule allows, and creates no others', async () => {
  const { service, editor } = await start();
  const [open_, closed] = [
    await share(service, editor),
    await share(service, editor, { password: PASSWORD }),
  ];
  const more = { database: service.databaseUrl, keys: service.keys } as const;
  for (const [shareLinks, expected] of [
    ['any', [200, 401]],
    ['password', [404, 401]],
    ['none', [404, 404]],
  ] as const) {
    const node = await startService({ ...more, shareLinks });
    const statuses = [await open(node, open_.token), await open(node, closed.token)];
    expect(
      statuses.map(({ status }) => status),
      shareLinks,
    ).toEqual(expected);
    const csv = await node.send({ path: `/share/${open_.token}.csv`, key: null });
    expect(csv.status, shareLinks).toBe(expected[0]);
    const browser = new Browser(node);
    for (const [name, value] of editor.cookies) browser.setCookie(name, value);
    expect(await browser.ask({ path: '/api/session' })).toMatchObject({ shareLinks });
    const create = async (body: object) =>
      (await browser.send({ path: SHARE_LINKS, body: { name: 'New', ...body } })).status;
    const created = [await create({}), await create({ password: PASSWORD })];
    expect(created, shareLinks).toEqual(expected.map((status) => (status === 404 ? 400 : 201)));
  }
});

describe('a share link with a password', () => {
  test('shows nothing without it, and everything but CSV with it', async () => {
    const { service, editor } = await start();
    await service.record({ id: 'one', caller: 'slack' });
    const { token } = await share(service, editor, { password: PASSWORD });
    const other = await share(service, editor, { password: PASSWORD });
    for (const headers of [
      {},
      bearer('x'),
      bearer('9999999999999.x'),
      bearer(PASSWORD),
      { cookie: 'share=1' },
    ])
      for (const path of ['', ...REPORTS])
        expect((await open(service, token, path, headers)).status).toBe(401);
    for (const wrong of ['wrong passphrase', PASSWORD.toUpperCase(), `${PASSWORD} `]) {
      const answer = await unlock(service, token, wrong);
      expect([answer.status, errorOf(answer)]).toEqual([403, 'This is not the password of the link.']);
    }
    expect((await unlock(service, token, '')).status).toBe(400);
    const ticket = await ticketOf(service, token);
    for (const path of ['', ...REPORTS])
      expect((await open(service, token, path, bearer(ticket))).status).toBe(200);
    // For this link only, and not for ever.
    expect((await open(service, other.token, '', bearer(ticket))).status).toBe(401);
    const [expires, signature] = ticket.split('.');
    expect((await open(service, token, '', bearer(`${Number(expires) + 1}.${signature}`))).status).toBe(401);
    service.clock.nowMs += shareTicketSeconds * 1000;
    expect((await open(service, token, '', bearer(ticket))).status).toBe(401);
    for (const path of ['.csv', '/callers.csv']) {
      const answer = await service.send({
        path: `/share/${token}${path}`,
        key: null,
        headers: bearer(ticket),
      });
      expect([answer.status, errorOf(answer)]).toEqual([
        403,
        expect.stringMatching(/^This link has a password, .*no CSV/),
      ]);
    }
  });

  test('works on every node, and its ticket ends with the link', async () => {
    const { service, editor } = await start();
    const node = await startService({ database: service.databaseUrl, keys: service.keys });
    const { link, token } = await share(service, editor, { password: PASSWORD });
    const ticket = await ticketOf(node, token);
    expect((await open(service, token, '', bearer(ticket))).status).toBe(200);
    await editor.ask({ path: `/api/organizations/default/share-links/${link.id}`, method: 'DELETE' }, 204);
    for (const each of [service, node])
      expect((await open(each, token, '', bearer(ticket))).status).toBe(404);
  });

  test('is protected from guessing: by address, and over all addresses', async () => {
    const { service, editor } = await start();
    const { token } = await share(service, editor, { password: PASSWORD });
    const guess = async (at: number) =>
      (await unlock(service, token, `guess number ${at}`, `198.51.${at}.7`)).status;
    const statuses = new Set<number>();
    for (let at = 0; at < shareGuessesMax; at++) statuses.add(await guess(at));
    expect([...statuses]).toEqual([403]);
    expect(await guess(200)).toBe(429);
    const right = await unlock(service, token, PASSWORD, '203.0.113.1');
    expect([right.status, Number(right.headers['retry-after'])]).toEqual([429, guessWindowSeconds]);
    // Signing in is not affected.
    expect((await new Browser(service, '203.0.113.1').signIn(ada)).status).toBe(200);
    service.clock.nowMs += guessWindowSeconds * 1000;
    expect((await unlock(service, token, PASSWORD, '203.0.113.1')).status).toBe(200);
    const others = await Promise.all([0, 1].map(() => share(service, editor, { password: PASSWORD })));
    const fromOne: number[] = [];
    for (let at = 0; at <= addressFailuresMax; at++)
      fromOne.push(
        (await unlock(service, others[at % 2]?.token ?? '', `guess number ${at}`, '192.0.2.9')).status,
      );
    expect(fromOne.lastIndexOf(403)).toBe(addressFailuresMax - 1);
    expect(fromOne.at(-1)).toBe(429);
  });

  test('takes passwords only from pages of this server', async () => {
    const { service, editor } = await start();
    const { token } = await share(service, editor, { password: PASSWORD });
    const body = JSON.stringify({ password: PASSWORD });
    const path = `/api/shared/${token}/unlock`;
    const headers = { 'content-type': 'application/json', origin: 'https://other.test' };
    expect((await service.send({ method: 'POST', path, key: null, headers, body })).status).toBe(403);
  });
});

describe('what a share link answers', () => {
  const service = sharedService({}, async ({ record }) => {
    const callers = ['web', 'api', 'slack', 'sdk-python'];
    await record(
      Array.from({ length: 400 }, (_, at) => ({
        id: `q${at}`,
        caller: callers[(at * at) % 4],
        occurredAt: new Date(startMs - at * 26 * 3_600_000).toISOString(),
      })),
    );
  });
  let token = '';
  beforeAll(async () => {
    const editor = await signedIn(service(), ada, 'editor');
    ({ token } = await share(service(), editor));
  });

  const period = fc.constantFrom('last-7-days', 'last-month', 'last-12-months', 'this-year', 'yesterday');
  const bounds = fc
    .tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 100 }))
    .map(([ago, days]) => {
      const day = (at: number) => new Date(startMs - at * dayMs).toISOString().slice(0, 10);
      return `dateFrom=${day(ago + days)}&dateTo=${day(ago)}`;
    });
  const range = fc.oneof(
    period.map((one) => `period=${one}`),
    bounds,
  );
  const zone = fc.constantFrom('Europe/Berlin', 'America/Los_Angeles', 'UTC', 'Asia/Kathmandu');
  const more = fc.constantFrom('', '&compare=previous', '&caller=slack', '&compare=previous-year&caller=web');
  const shape = fc.constantFrom(
    '',
    '&interval=month',
    '&interval=week&by=caller',
    '&interval=quarter',
    '&interval=month&by=caller',
  );

  test('is what the API answers to a key, for all ranges', async () => {
    const csv = { accept: 'text/csv' };
    await fc.assert(
      fc.asyncProperty(range, zone, more, shape, async (when, timeZone, extra, how) => {
        const { send } = service();
        const query = `?${when}&timeZone=${encodeURIComponent(timeZone)}`;
        const pairs = [
          [`/api/shared/${token}/caller-stats${query}${extra}`, `${STATS}${query}${extra}`, {}],
          [`/api/shared/${token}/series${query}${how}`, `${SERIES}${query}${how}`, {}],
          [`/api/shared/${token}/callers${query}`, `${CALLERS}${query}`, {}],
          [`/share/${token}.csv${query}${how}`, `${SERIES}${query}${how}`, csv],
          [`/share/${token}/callers.csv${query}`, `${CALLERS}${query}`, csv],
        ] as const;
        for (const [shared, asked, headers] of pairs) {
          const [ours, theirs] = [
            await send({ path: shared, key: null }),
            await send({ path: asked, headers }),
          ];
          expect(ours.status).toBe(200);
          expect([ours.text, ours.headers['content-type']]).toEqual([
            theirs.text,
            theirs.headers['content-type'],
          ]);
        }
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    '?period=last-moth',
    '?dateFrom=2026-02-30',
    '?interval=minute',
    '?by=type',
    '?dateFrom=2026-01-01&dateFrom=2026-01-02',
    '?datefrom=2026-01-01',
    '?period=today&dateTo=2026-01-01',
    '?interval=hour&dateFrom=2000-01-01&dateTo=2026-01-01',
  ])('is refused like the API for %s', async (query) => {
    const { send } = service();
    const theirs = await send({ path: `${SERIES}${query}` });
    expect(theirs.status).toBe(400);
    for (const path of [`/share/${token}.csv`, `/api/shared/${token}/series`]) {
      const ours = await send({ path: `${path}${query}`, key: null });
      expect([ours.status, ours.text]).toEqual([400, theirs.text]);
    }
  });
});
