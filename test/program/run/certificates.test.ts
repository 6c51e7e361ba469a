/** A server sends data only to servers whose certificate and version of TLS it accepts. */
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer, type SecureContextOptions, type Server } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { sharedByTests, whenOver } from '../../support/cleanup.js';
import { firstRunOf } from '../../support/cli/cli.js';
import { emptyPlace, type Place } from '../../support/cli/cli-place.js';
import { PASSWORD } from '../../support/http/dashboard.js';
import { certificateFor, newAuthority } from '../../support/postgres/certificates.js';

const trusted = await newAuthority('Test CA');
const own = await certificateFor('localhost', trusted);

/** The ways in which another server fails to prove who it is, with the errors that name them. */
const BAD: Readonly<Record<string, { readonly context: SecureContextOptions; readonly problem: RegExp }>> = {
  'a certificate of an authority that the server does not know': {
    context: await certificateFor('localhost', await newAuthority('Test CA')),
    problem: /unable to verify|certificate signature failure/,
  },
  'a certificate that signed itself': {
    context: await certificateFor('localhost', undefined),
    problem: /self.signed certificate/,
  },
  'a certificate that has expired': {
    context: await certificateFor('localhost', trusted, new Date('2025-01-01')),
    problem: /certificate has expired/,
  },
  'a certificate for another host': {
    context: await certificateFor('other.example', trusted),
    problem: /does not match certificate's altnames/,
  },
  'TLS 1.1': {
    context: { ...own, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    problem: /unsupported protocol|protocol version/,
  },
};

/** A server whose certificate a test may change, and what it has received since then. */
class Listener {
  readonly #server: Server;
  #received = '';

  /** `greeting`: what it says first. It answers everything with `answer`. */
  constructor(greeting: string, answer: string) {
    this.#server = createServer(own, (socket) => {
      socket.on('error', () => {});
      socket.write(greeting);
      socket.on('data', (data) => {
        this.#received += data;
        socket.end(answer);
      });
    });
    this.#server.on('tlsClientError', () => {});
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    whenOver(() => new Promise<void>((resolve) => this.#server.close(() => resolve())));
    return this;
  }

  get address(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What is sent during `work`, to a server with this certificate. */
  async during(context: SecureContextOptions, work: () => Promise<unknown>): Promise<string> {
    this.#server.setSecureContext(context);
    this.#received = '';
    await work();
    return this.#received;
  }
}

const newHttp = () =>
  new Listener('', 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n').start();

/** A place whose programs trust the authority. */
async function trustingPlace(): Promise<{ place: Place; env: Record<string, string> }> {
  const place = await emptyPlace();
  await writeFile(place.path('ca.pem'), trusted.cert);
  return { place, env: { NODE_EXTRA_CA_CERTS: place.path('ca.pem') } };
}

const publicUrl = 'http://127.0.0.1:4321';
const digest = { kind: 'digest', period: 'week', timeZone: 'UTC' } as const;

/** A server with a provider, a receiver of notifications and a mail server, and what makes it connect to each. */
async function start() {
  const { place, env } = await trustingPlace();
  const [http, smtp] = [
    await newHttp(),
    await new Listener('220 localhost ESMTP\r\n', '421 closing\r\n').start(),
  ];
  const server = await place.spawnServer(
    ['--public-url', publicUrl, '--notification-networks', '127.0.0.0/8,::1'],
    {
      env: {
        ...env,
        CALLER_STATS_OIDC_ISSUER: `https://${http.address}`,
        CALLER_STATS_OIDC_CLIENT_ID: 'caller-stats',
        CALLER_STATS_OIDC_CLIENT_SECRET: 'a secret',
        CALLER_STATS_SMTP_URL: `smtps://${smtp.address}?from=stats@example.org`,
      },
    },
  );
  const { project, admin } = firstRunOf(server);
  let cookie = '';
  const send = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: publicUrl, cookie },
      body: JSON.stringify(body),
    });
    cookie ||= response.headers
      .getSetCookie()
      .map((one) => one.split(';')[0])
      .join('; ');
    const text = await response.text();
    expect([path, response.ok, text]).toEqual([path, true, text]);
    return text === '' ? {} : JSON.parse(text);
  };
  const token = /\/set-up#(\w+)/.exec(server.stdout)?.[1];
  await send('/api/set-up', { token, email: 'ada@example.org', name: 'Ada', password: PASSWORD });
  const testOf = async (channel: string, destination: string) => {
    const list = `/api/organizations/default/projects/${project}/notifications`;
    const { notification } = await send(list, { ...digest, channel, destination });
    const { id } = notification as { readonly id: string };
    return () => send(`/api/organizations/default/notifications/${id}/test`, {});
  };
  const [webhook, mail] = [
    await testOf('webhook', `https://${http.address}/hook`),
    await testOf('email', 'ada@example.org'),
  ];
  return {
    provider: {
      to: http,
      sends: /^GET \/\.well-known\/openid-configuration /,
      connect: async () => {
        const { status } = await fetch(`${server.url}/api/sign-in/oidc?to=/`, { redirect: 'manual' });
        expect(status).toBe(302);
      },
    },
    receiver: { to: http, sends: /^POST \/hook /, connect: webhook },
    'mail server': { to: smtp, sends: /^EHLO /, connect: mail },
    'server of --url': {
      to: http,
      sends: /^GET \/v1\/analytics\//,
      connect: () =>
        place.spawn(['stats', project, '--url', `https://${http.address}`], {
          env: { ...env, CALLER_STATS_KEY: admin },
        }),
    },
  };
}

const WAYS = ['provider', 'receiver', 'mail server', 'server of --url'] as const;

const shared = sharedByTests(start);

describe.each(WAYS)('a %s', (way) => {
  test.each(Object.entries(BAD))('with %s is sent nothing', async (_what, { context, problem }) => {
    const { to, connect } = (await shared())[way];
    let said: unknown;
    expect(await to.during(context, async () => (said = await connect()))).toBe('');
    if (said !== undefined) expect(JSON.stringify(said)).toMatch(problem);
  });

  test('receives data if the server trusts its certificate', async () => {
    const { to, connect, sends } = (await shared())[way];
    expect(await to.during(own, connect)).toMatch(sends);
  });
});

test('a collector is sent traces only if its certificate is trusted', async () => {
  const { place, env } = await trustingPlace();
  const collector = await newHttp();
  const trace = async () => {
    const traced = { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: `https://${collector.address}` };
    const server = await place.spawnServer([], { env: traced });
    expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200);
    await server.stop();
  };
  const [unknown] = Object.values(BAD);
  expect(await collector.during({ ...unknown?.context }, trace)).toBe('');
  expect(await collector.during(own, trace)).toMatch(/^POST \/v1\/traces /);
});
