/** Notifications in the dashboard's API: what is refused, what is stored, and what the server then sends. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { notificationsMax, testMessagesMax } from '../../../src/domain/limits.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { auditOf, type Browser, signedIn } from '../../support/http/dashboard.js';
import {
  detailsOf,
  QUERIES,
  type Service,
  type ServiceOptions,
  startMs,
  startService,
} from '../../support/http/http.js';
import { loopback, startMailServer, startReceiver } from '../../support/http/receivers.js';
import { notificationOf } from '../../support/storage/notifications.js';
import { by, databases } from '../../support/storage/store.js';

const LIST = '/api/organizations/default/projects/docs/notifications';
const ONE = '/api/organizations/default/notifications';
const weekMs = 7 * dayMs;
const digest = { kind: 'digest', period: 'week', timeZone: 'UTC', channel: 'webhook' };

interface Listed {
  readonly notifications: readonly Readonly<Record<string, unknown>>[];
  readonly deliveries: readonly Readonly<Record<string, unknown>>[];
  readonly sendsEmail: boolean;
}

interface Saved {
  readonly notification: Readonly<Record<string, unknown>> & { readonly id: string };
  readonly secret: string | null;
}

async function start(options: ServiceOptions = {}): Promise<{ service: Service; editor: Browser }> {
  const service = await startService(options);
  return { service, editor: await signedIn(service, 'ada@example.org', 'editor') };
}

const JSON_TYPE = { 'content-type': 'application/json' };

const onLoopback = { notifications: { privateNetworks: loopback } };

describe('the dashboard refuses', () => {
  test('notifications with invalid fields, and names each of them', async () => {
    const { service, editor } = await start();
    const https = /^destination: is not an address that begins with https/;
    const cases: readonly (readonly [body: unknown, expected: readonly RegExp[]])[] = [
      [{}, [/^kind: /, /^timeZone: /, /^channel: /]],
      [
        { ...digest, every: 'week', period: 'day', destination: 1 },
        [/^"every": /, /^period: /, /^destination: /],
      ],
      [{ ...digest, timeZone: 'Mars' }, [/^timeZone: "Mars" is not a time zone/]],
      [digest, [/^destination: is missing/]],
      [{ ...digest, destination: 'http://hooks.example.org' }, [https]],
      [{ ...digest, channel: 'slack', destination: 'javascript:alert(1)' }, [https]],
      [{ ...digest, destination: 'https://a:b@hooks.example.org' }, [/^destination: contains a user name/]],
      [{ ...digest, hours: 3, destination: 'https://hooks.example.org' }, [/^hours: a digest has none/]],
      [
        { ...digest, channel: 'email', destination: 'a@example.org' },
        [/^channel: this server sends no e-mail/],
      ],
    ];
    for (const [body, expected] of cases) {
      const answer = await editor.send({ path: LIST, body });
      expect([answer.status, JSON.stringify(body)]).toEqual([400, JSON.stringify(body)]);
      const details = detailsOf(answer);
      expect(details).toHaveLength(expected.length);
      for (const [at, pattern] of expected.entries()) expect(details[at]).toMatch(pattern);
    }
    for (const id of ['none', 'no%20id'])
      expect(await editor.send({ path: LIST.replace('docs', id) })).toMatchObject({ status: 404 });
    expect(await service.store.notifications.listDestinations()).toEqual([]);
  });

  test('more of them than a project may have', async () => {
    const { service, editor } = await start();
    for (let at = 0; at < notificationsMax; at++)
      await service.store.notifications.create(notificationOf(`n${at}`, { checkAt: startMs + weekMs }), by);
    const answer = await editor.send({
      path: LIST,
      body: { ...digest, destination: 'https://a.example.org' },
    });
    expect(answer).toMatchObject({
      status: 400,
      text: expect.stringContaining('has 20 notifications already'),
    });
  });

  test('test messages to receivers that the server must not reach, and too many of them', async () => {
    const { url, received } = await startReceiver();
    const { editor } = await start();
    const destination = url.replace('http:', 'https:');
    const { notification } = await editor.ask<Saved>({ path: LIST, body: { ...digest, destination } }, 201);
    const test = { path: `${ONE}/${notification.id}/test`, body: {} };
    for (let at = 0; at < testMessagesMax; at++)
      expect(await editor.ask(test)).toEqual({
        problem: 'its address is not public, and no network of --notification-networks has it',
      });
    expect(received).toEqual([]);
    const refused = await editor.send(test);
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    });
  });
});

describe('a notification', () => {
  test('shows its secret once, and its address to nobody', async () => {
    const { service, editor } = await start();
    const destination = 'https://hooks.example.org/services/hidden';
    const { notification, secret } = await editor.ask<Saved>(
      { path: LIST, body: { ...digest, destination } },
      201,
    );
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const shown = {
      ...digest,
      destination: 'hooks.example.org',
      createdBy: 'ada@example.org',
      project: 'docs',
    };
    expect(notification).toMatchObject(shown);
    const listed = await editor.ask<Listed>({ path: LIST });
    expect(listed).toMatchObject({ notifications: [notification], deliveries: [], sendsEmail: false });
    expect(JSON.stringify(listed)).not.toContain('hidden');
    const [stored] = await service.store.notifications.listDestinations();
    expect(stored?.destination).toMatch(/^\$ba\$\d+\$[0-9a-f]+$/);
    for (const { detail } of await auditOf(service)) expect(detail).not.toContain('hidden');
    // A change that names no address keeps it, and its secret.
    const silence = { kind: 'silence', hours: 3, timeZone: 'UTC', channel: 'webhook' };
    const path = `${ONE}/${notification.id}`;
    const changed = await editor.ask<Saved>({ method: 'PATCH', path, body: silence });
    expect(changed).toMatchObject({
      secret: null,
      notification: { ...silence, period: null, destination: shown.destination },
    });
    expect(await service.store.notifications.listDestinations()).toEqual([stored]);
    const moved = await editor.ask<Saved>({ method: 'PATCH', path, body: { ...silence, destination } });
    expect(moved.secret).toMatch(/^whsec_/);
    expect(moved.secret).not.toBe(secret);
    // The address of one channel is none of another.
    const slack = await editor.send({ method: 'PATCH', path, body: { ...silence, channel: 'slack' } });
    expect(detailsOf(slack)).toEqual(['destination: is missing']);
    await editor.ask({ method: 'DELETE', path }, 204);
    expect(await editor.ask<Listed>({ path: LIST })).toMatchObject({ notifications: [] });
    expect(
      (await auditOf(service)).slice(0, 4).map(({ action, targetId, actor }) => [action, targetId, actor]),
    ).toEqual([
      ['notification.delete', 'docs', 'ada@example.org'],
      ['notification.change', 'docs', 'ada@example.org'],
      ['notification.change', 'docs', 'ada@example.org'],
      ['notification.create', 'docs', 'ada@example.org'],
    ]);
  });

  test('is tested by webhook, to Slack and by e-mail, which the audit log says', async () => {
    const hook = await startReceiver();
    const mail = await startMailServer();
    const { service, editor } = await start({
      notifications: {
        privateNetworks: loopback,
        mail: { smtpUrl: mail.url, mailFrom: 'stats@example.org' },
      },
      users: { publicUrl: 'https://stats.example.org' },
    });
    for (const [channel, destination] of [
      ['webhook', `${hook.url}/hook`],
      ['slack', `${hook.url}/slack`],
      ['email', 'ada@example.org'],
    ] as const) {
      const { notification } = await editor.ask<Saved>(
        { path: LIST, body: { ...digest, channel, destination } },
        201,
      );
      expect(await editor.ask({ path: `${ONE}/${notification.id}/test`, body: {} })).toEqual({
        problem: null,
      });
    }
    expect(hook.received.map(({ path }) => path)).toEqual(['/hook', '/slack']);
    const [webhook] = hook.received;
    expect(JSON.parse(webhook?.body ?? '')).toMatchObject({
      type: 'test',
      data: { project: { id: 'docs' }, link: 'https://stats.example.org/projects/docs' },
    });
    expect(mail.received).toMatchObject([{ to: ['ada@example.org'] }]);
    const details = (await auditOf(service)).filter(({ action }) => action === 'notification.test');
    expect(details.map(({ detail }) => detail)).toEqual([
      'weekly digest by e-mail to ada@example.org: accepted',
      `weekly digest by Slack to ${new URL(hook.url).host}: accepted`,
      `weekly digest by webhook to ${new URL(hook.url).host}: accepted`,
    ]);
  });

  test('forgets what it reported if its trigger changes, and not if only its address does', async () => {
    const { service, editor } = await start();
    const silence = { kind: 'silence', period: null, hours: 3, timeZone: 'UTC' } as const;
    const stored = notificationOf('n', {
      ...silence,
      timeZone: 'UTC' as never,
      checkAt: startMs + weekMs,
      incidentAt: 5,
    });
    await service.store.notifications.create(stored, by);
    const { period: _, ...body } = { ...silence, channel: 'webhook', destination: 'https://b.example.org' };
    const patch = { method: 'PATCH', path: `${ONE}/n` };
    await editor.ask({ ...patch, body });
    expect(await service.store.notifications.findById('default', 'n')).toMatchObject({
      incidentAt: 5,
      checkAt: startMs + weekMs,
    });
    await editor.ask({ ...patch, body: { ...body, hours: 4 } });
    const changed = await service.store.notifications.findById('default', 'n');
    expect(changed).toMatchObject({ incidentAt: null, hours: 4 });
    expect(changed?.checkAt).toBeLessThan(startMs + weekMs);
  });
});

describe('a digest by e-mail announces the keys in use that expire', () => {
  const ANNOUNCED = 'The key "Widget" (Widget) is in use and expires at';

  test.each([
    [
      'within 30 days',
      'week',
      '2026-07-30',
      { '2026-06-29': false, '2026-07-06': true, '2026-08-03': false },
    ],
    ['within a week of the next one', 'month', '2026-08-07', { '2026-07-01': true }],
    ['but not those that the next one announces in time', 'month', '2026-08-09', { '2026-07-01': false }],
  ])('%s', async (_which, period, expiry, mails) => {
    const mail = await startMailServer();
    const notifications = { mail: { smtpUrl: mail.url, mailFrom: 'stats@example.org' } };
    const { service, editor } = await start({ notifications });
    const body = { ...digest, period, channel: 'email', destination: 'ada@example.org' };
    await editor.ask<Saved>({ path: LIST, body }, 201);
    const recording = { type: 'recording', projectId: 'docs', expiresAt: Date.parse(expiry) } as const;
    const key = await service.addKey('Widget', recording);
    await service.addKey('Unused', recording);
    const announces: Record<string, boolean> = {};
    for (const day of Object.keys(mails)) {
      const nowMs = Date.parse(`${day}T12:00:00Z`);
      service.clock.nowMs = nowMs - dayMs;
      await service.send({
        method: 'POST',
        path: QUERIES,
        key,
        body: '{"id":"a","caller":"web"}',
        headers: JSON_TYPE,
      });
      await Promise.all(
        service.calls.filter(({ method }) => method === 'touchKey').map(({ result }) => result),
      );
      // A server that starts then sends what is due.
      const node = await startService({
        notifications,
        database: service.databaseUrl,
        keys: service.keys,
        nowMs,
      });
      await expect.poll(() => mail.received.length).toBe(Object.keys(announces).length + 1);
      await node.close();
      const text = mail.received.at(-1)?.source.replaceAll('=\r\n', '') ?? '';
      expect(text).not.toContain('Unused');
      announces[day] = text.includes(
        `${ANNOUNCED} ${expiry}T00:00:00.000Z. What is sent with it then is lost.`,
      );
    }
    expect(announces).toEqual(mails);
  });
});

describe.each(databases)('the servers of %s', (_kind, newDatabase) => {
  test('encrypt destinations again with a new secret, so that the old one can be forgotten', async () => {
    const [old, newer] = ['o'.repeat(32), 'n'.repeat(32)];
    const { url, received } = await startReceiver();
    const withSecrets = (...secrets: string[]) => ({
      ...onLoopback,
      users: { secrets: async () => secrets },
    });
    const { service, editor } = await start({ ...withSecrets(old), database: newDatabase() });
    const body = { ...digest, destination: url };
    const { notification } = await editor.ask<Saved>({ path: LIST, body }, 201);
    const same = { database: service.databaseUrl, keys: service.keys };
    // Closing waits for the work of the start, which encrypts again.
    await (await startService({ ...withSecrets(newer, old), ...same })).close();
    const without = await startService({ ...withSecrets(newer), ...same });
    const other = await signedIn(without, 'grace@example.org', 'editor');
    const path = `${ONE}/${notification.id}/test`;
    expect(await other.ask({ path, body: {} })).toEqual({ problem: null });
    expect(received).toHaveLength(1);
  });

  test('send a digest once, however many there are, and tell what was sent', async () => {
    let arrived: () => void = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { url, received } = await startReceiver((response) => {
      response.once('close', arrived);
      response.writeHead(204).end();
    });
    const options = { ...onLoopback, database: newDatabase() };
    const { service, editor } = await start(options);
    const body = { ...digest, destination: url };
    const { notification, secret } = await editor.ask<Saved>({ path: LIST, body }, 201);
    await service.record([
      { id: 'a', caller: 'web' },
      { id: 'b', caller: 'slack' },
    ]);
    // Other nodes look when they start, a week later, all at once.
    const nodes = {
      ...onLoopback,
      database: service.databaseUrl,
      keys: service.keys,
      nowMs: startMs + weekMs,
    };
    const others = await Promise.all([startService(nodes), startService(nodes), startService(nodes)]);
    await arrival;
    // Each finishes what it is doing.
    await Promise.all(others.map((one) => one.close()));
    expect(received).toHaveLength(1);
    const [{ headers, body: sent } = { headers: {}, body: '' }] = received;
    const signed = headers as Record<string, string>;
    // The library compares the time of the signature with its own clock.
    const at = new Date(Number(signed['webhook-timestamp']) * 1000);
    expect(signed['webhook-signature']).toBe(
      new Webhook(secret ?? '').sign(signed['webhook-id'] ?? '', at, sent),
    );
    expect(JSON.parse(sent)).toMatchObject({
      type: 'digest',
      data: { project: { id: 'docs' }, counts: { web: 1, api: 0, other: 1, total: 2 } },
    });
    const { deliveries } = await editor.ask<Listed>({ path: LIST });
    expect(deliveries).toMatchObject([
      {
        id: signed['webhook-id'],
        notification: notification.id,
        state: 'delivered',
        attempts: 1,
        error: null,
      },
    ]);
    expect((await auditOf(service))[0]).toMatchObject({
      action: 'notification.deliver',
      actor: 'notifications',
    });
  });
});
