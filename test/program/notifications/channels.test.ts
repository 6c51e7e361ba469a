/** Messages on their way: only to receivers that the server may reach, signed, and accepted or not. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test, vi } from 'vitest';
import { Channels, type Sending } from '../../../src/app/notifications/channels/channels.js';
import { Mailer } from '../../../src/app/notifications/channels/mailer.js';
import { Poster } from '../../../src/app/notifications/channels/poster.js';
import { newWebhookSecret } from '../../../src/app/notifications/channels/webhook.js';
import { messageTimeoutMs } from '../../../src/domain/limits.js';
import type { Message } from '../../../src/domain/notifications/message.js';
import { whenOver } from '../../support/cleanup.js';
import { loopback, startMailServer, startReceiver } from '../../support/http/receivers.js';

const message: Message = {
  type: 'digest',
  timestamp: '2026-11-23T05:00:00.000Z',
  title: 'Docs & <Handbook>: 3 queries',
  text: 'Docs recorded 3 queries.\n\nBy caller: web 3.',
  data: { counts: { total: 3 } },
};
const post = { body: '{}', headers: {}, signal: new AbortController().signal };
const open = new Poster(loopback);
const secret = newWebhookSecret(() => 7);

const sendingTo = (to: string, more: Partial<Sending> = {}): Sending => ({
  id: 'msg_1',
  message,
  destination: { to, secret },
  nowMs: Date.now(),
  ...more,
});

describe('a webhook is not sent', () => {
  test.each([
    'https://127.0.0.1',
    'https://127.1.2.3:8443/x',
    'https://[::1]',
    'https://[::]',
    'https://0.0.0.0',
    'https://0x7f000001',
    'https://2130706433',
    'https://localhost',
    'https://10.0.0.1',
    'https://172.16.0.1',
    'https://192.168.1.1',
    'https://100.64.0.1',
    'https://169.254.169.254/latest/meta-data',
    'https://[fe80::1]',
    'https://[fd00::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:10.0.0.1]',
    'https://[64:ff9b::a00:1]',
    'https://[64:ff9b:1::a00:1]',
    'https://[2002:a00:1::]',
    // Deprecated forms that contain an IPv4 address, and parts of IPv6 that nobody has.
    'https://[::127.0.0.1]',
    'https://[::10.0.0.1]',
    'https://[::ffff:0:127.0.0.1]',
    'https://[fec0::1]',
    'https://[400::1]',
    'https://224.0.0.1',
    'https://255.255.255.255',
    'https://192.0.2.1',
    'http://93.184.216.34',
  ])('to %s, unless the operator allows it', async (url) => {
    await expect(new Poster([]).post(url, post)).rejects.toThrow(/^its address is not public/);
    // Another network does not help.
    await expect(new Poster(['198.18.0.0/15']).post(url, post)).rejects.toThrow(/^its address is not public/);
  });

  test('to a receiver on this machine before its address was allowed: it gets no connection', async () => {
    const server = createServer();
    let connections = 0;
    server.on('connection', () => connections++);
    server.listen(0, '127.0.0.1');
    whenOver(() => void server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    for (const host of ['127.0.0.1', 'localhost'])
      await expect(new Poster(['10.0.0.0/8']).post(`http://${host}:${port}`, post)).rejects.toThrow(
        /not public/,
      );
    expect(connections).toBe(0);
  });

  test('to where a redirect leads', async () => {
    const secretPlace = await startReceiver();
    for (const status of [301, 302, 303, 307, 308]) {
      const receiver = await startReceiver((response) =>
        response.writeHead(status, { location: secretPlace.url }).end(),
      );
      await expect(open.post(receiver.url, post)).rejects.toThrow(
        `the receiver answered ${status}; redirects are not followed`,
      );
    }
    expect(secretPlace.received).toEqual([]);
  });

  test.each([400, 401, 404, 410, 429, 500, 503])('successfully if the answer is %i', async (status) => {
    const { url } = await startReceiver((response) => response.writeHead(status).end('sorry'));
    await expect(open.post(url, post)).rejects.toThrow(`the receiver answered ${status}`);
  });

  test('for longer than its time', async () => {
    const waiting = new AbortController();
    const { url } = await startReceiver(() => waiting.abort(new Error('too late')));
    await expect(open.post(url, { ...post, signal: waiting.signal })).rejects.toThrow(/abort/i);
  });

  test('to a server that is not there', async () => {
    const { url } = await startReceiver();
    const free = new URL(url);
    free.port = '1';
    await expect(open.post(free.href, post)).rejects.toThrow(/ECONNREFUSED/);
  });
});

test.each(['webhook', 'email'] as const)(
  'a receiver that takes the connection and answers nothing is given up, and the connection closed: %s',
  async (channel) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    whenOver(() => vi.useRealTimers());
    const sockets: Socket[] = [];
    const closed: Promise<unknown>[] = [];
    // The mail server begins a greeting and does not end it.
    const server = createServer((socket) => {
      closed.push(once(socket.on('error', () => {}).resume(), 'close'));
      sockets.push(socket);
      if (channel === 'email') socket.write('220-wait\r\n');
      setImmediate(() => vi.advanceTimersByTime(messageTimeoutMs));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    whenOver(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    const { port } = server.address() as AddressInfo;
    const mailer = new Mailer({ smtpUrl: `smtp://127.0.0.1:${port}`, mailFrom: 'stats@example.org' });
    const to = channel === 'email' ? 'ada@example.org' : `http://127.0.0.1:${port}`;
    await expect(new Channels(open, mailer).send(channel, sendingTo(to))).rejects.toThrow(
      /the receiver took longer than 10 s|Greeting never received/,
    );
    await Promise.all(closed);
  },
);

describe('a webhook', () => {
  test('ends without reading what the receiver answers', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { url } = await startReceiver((response) => {
      closed = once(response, 'close');
      const more = (): void => {
        while (response.writable && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      response.writeHead(200);
      more();
    });
    await open.post(url, post);
    await closed;
  });

  test('a secret has 256 random bits', () => {
    const asked: number[] = [];
    expect(newWebhookSecret((max) => asked.push(max) % max)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(asked).toEqual(Array(32).fill(256));
  });

  test('is signed as Standard Webhooks say', async () => {
    const { url, received } = await startReceiver();
    const channels = new Channels(open, undefined);
    const sending = sendingTo(`${url}/hook?x=1`);
    await channels.send('webhook', sending);
    await channels.send('webhook', sending);
    const [first, second] = received;
    expect(first).toMatchObject({
      path: '/hook?x=1',
      headers: { 'webhook-id': 'msg_1', 'content-type': 'application/json' },
    });
    const { timestamp, title, text } = message;
    const body = { type: 'digest', timestamp, data: { title, text, counts: { total: 3 } } };
    expect(JSON.parse(first?.body ?? '')).toEqual(body);
    expect(second?.body).toBe(first?.body);
    // The library of the specification accepts it, and nothing else.
    const headers = first?.headers as Record<string, string>;
    expect(new Webhook(secret).verify(first?.body ?? '', headers)).toEqual(body);
    expect(() => new Webhook(secret).verify(`${first?.body} `, headers)).toThrow(/signature/i);
    expect(() => new Webhook(newWebhookSecret(() => 8)).verify(first?.body ?? '', headers)).toThrow();
    // So does the function in the docs.
    const page = readFileSync(new URL('../../../docs/guides/read/alerts.md', import.meta.url), 'utf8');
    const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
    const { isGenuine } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    expect(isGenuine(secret, headers, first?.body)).toBe(true);
    expect(isGenuine(secret, headers, `${first?.body} `)).toBe(false);
    expect(
      isGenuine(
        newWebhookSecret(() => 8),
        headers,
        first?.body,
      ),
    ).toBe(false);
    const old = { ...headers, 'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 600) };
    expect(isGenuine(secret, old, first?.body)).toBe(false);
  });
});

test('a message to Slack is text in which nothing is a mark but the title', async () => {
  const { url, received } = await startReceiver();
  await new Channels(open, undefined).send('slack', sendingTo(url));
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    text: '*Docs &amp; &lt;Handbook&gt;: 3 queries*\nDocs recorded 3 queries.\n\nBy caller: web 3.',
  });
  expect(received[0]?.headers).not.toHaveProperty('webhook-signature');
});

test('a message to Microsoft Teams is a card of plain text', async () => {
  const { url, received } = await startReceiver();
  await new Channels(open, undefined).send('teams', sendingTo(url));
  const { attachments } = JSON.parse(received[0]?.body ?? '');
  const run = (text: string, more = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  });
  expect(attachments[0].content).toMatchObject({
    type: 'AdaptiveCard',
    body: [
      run('Docs & <Handbook>: 3 queries', { weight: 'Bolder' }),
      run('Docs recorded 3 queries.'),
      run('By caller: web 3.'),
    ],
  });
});

test('a message to Discord is text in which nothing is a mark but the title, and calls nobody', async () => {
  const { url, received } = await startReceiver();
  const text = `@everyone _a_\n\nhttps://a.example/p_1_2\n\n${'x'.repeat(3000)}`;
  await new Channels(open, undefined).send('discord', sendingTo(url, { message: { ...message, text } }));
  const { content, allowed_mentions } = JSON.parse(received[0]?.body ?? '');
  expect(content).toMatch(
    /^\*\*Docs & \\<Handbook\\>: 3 queries\*\*\n@everyone \\_a\\_\nhttps:\/\/a\.example\/p_1_2\nx+$/,
  );
  expect([...content]).toHaveLength(2000);
  expect(allowed_mentions).toEqual({ parse: [] });
});

describe('an e-mail', () => {
  const mailFrom = 'stats@example.org';

  test('is refused by a server that sends none, and fails if the SMTP server refuses it', async () => {
    const sending = sendingTo('ada@example.org');
    await expect(new Channels(open, undefined).send('email', sending)).rejects.toThrow(
      'this server sends no e-mail any more',
    );
    const { url } = await startMailServer({ refuses: true });
    const refused = new Channels(open, new Mailer({ smtpUrl: url, mailFrom }));
    await expect(refused.send('email', sending)).rejects.toThrow(/451 try again later/);
  });

  test('is sent without TLS only on this machine, or if the operator says so', async () => {
    const { url, received } = await startMailServer();
    // Leads here as well, but is not a loopback address.
    const elsewhere = url.replace('127.0.0.1', '0.0.0.0');
    const sendTo = (smtpUrl: string) =>
      new Channels(open, new Mailer({ smtpUrl, mailFrom })).send('email', sendingTo('ada@example.org'));
    await expect(sendTo(elsewhere)).rejects.toThrow(/STARTTLS/);
    expect(received).toEqual([]);
    await sendTo(`${elsewhere}?ignoreTLS=true`);
    expect(received).toHaveLength(1);
  });

  test('gets neither a header, a receiver nor a command from the names and texts in it', async () => {
    const { url, received } = await startMailServer();
    const channels = new Channels(open, new Mailer({ smtpUrl: url, mailFrom }));
    const text = 'Docs\r\n.\r\nMAIL FROM:<eve@example.org>\r\n..\r\n';
    const titles = [
      'Docs\r\nBcc: eve@example.org',
      'Docs\n\nBy caller: none.',
      '=?utf-8?Q?Docs=0D=0ABcc:_eve@example.org?=: 3 queries',
      'Docs <eve@example.org>, eve@example.org',
      '😀'.repeat(100),
      'x'.repeat(100),
    ];
    for (const title of titles)
      await channels.send('email', sendingTo('ada@example.org', { message: { ...message, title, text } }));
    expect(received.map(({ to }) => to)).toEqual(titles.map(() => ['ada@example.org']));
    for (const { source } of received) {
      const [head = '', ...body] = source.split('\r\n\r\n');
      const headers = head.split(/\r\n(?! )/).map((line) => line.split(':')[0]?.toLowerCase());
      const own = ['auto-submitted', 'from', 'to', 'subject', 'message-id'];
      const usual = ['content-transfer-encoding', 'date', 'mime-version', 'content-type'];
      expect(headers.toSorted()).toEqual([...own, ...usual].toSorted());
      expect(body).toEqual([text]);
    }
  });

  test('arrives with the same id in each attempt, and as an automatic one', async () => {
    const { url, received } = await startMailServer();
    const channels = new Channels(open, new Mailer({ smtpUrl: url, mailFrom }));
    for (let attempt = 0; attempt < 2; attempt++) await channels.send('email', sendingTo('ada@example.org'));
    expect(received).toHaveLength(2);
    for (const { from, to, source } of received) {
      expect({ from, to }).toEqual({ from: mailFrom, to: ['ada@example.org'] });
      expect(source).toMatch(/^Message-ID: <msg_1@example.org>\r$/im);
      expect(source).toMatch(/^Subject: Docs & <Handbook>: 3 queries\r$/m);
      expect(source).toMatch(/^Auto-Submitted: auto-generated\r$/im);
      expect(source).toContain('Docs recorded 3 queries.\r\n\r\nBy caller: web 3.');
    }
  });
});
