/** A whole service for one test: real store, real app, a clock that stands still until told otherwise. */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { readServerSettings } from '../../src/cli/settings/server-settings.js';
import type { TelemetryRules } from '../../src/domain/queries/telemetry.js';
import { type AppOptions, buildApp } from '../../src/http/app.js';
import type { BasePath } from '../../src/http/request/base-path.js';
import type { RequestMetrics } from '../../src/http/request-metrics.js';
import { openStore } from '../../src/storage/open.js';
import { type Answer, type Asked, checkAnswer } from './http-checks.js';
import { addKey, addProjectsAndKeys, type KeyName, type KeyRequest, startMs } from './http-keys.js';
import { headOf, RawConnection } from './http-raw.js';
import { type WatchedStore, watchStore } from './http-store.js';
import { at, OpenApi } from './openapi.js';
import { makeDocs, makePages } from './pages.js';
import './quick-passwords.mjs';
import { routesOf } from './routes.js';
import { requireNoKey } from './secrets.js';

export { type KeyName, startMs } from './http-keys.js';

export const STATS = '/v1/analytics/docs/assistant/caller-stats';
export const SERIES = `${STATS}/series`;
export const CALLERS = '/v1/analytics/docs/assistant/callers';
export const QUERIES = '/v1/analytics/docs/assistant/queries';

export interface TestRequest {
  readonly method?: string;
  readonly path?: string;
  /** Sent as `Authorization: Bearer`; null sends none. The admin key unless told. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** See `Asked.failing`. */
  readonly failing?: boolean;
  /** The address that the connection comes from. */
  readonly from?: string;
}

export interface Service extends Pick<WatchedStore, 'calls' | 'store'> {
  readonly watched: WatchedStore;
  readonly clock: { nowMs: number };
  /** What the app takes for the delay of its event loop. */
  readonly eventLoop: { delayMs: number };
  readonly keys: Readonly<Record<KeyName, string>>;
  readonly openApi: OpenApi;
  /** Opens the same database once more. */
  readonly databaseUrl: string;
  /** Stores a new key and gives its secret. */
  addKey(id: string, wish: KeyRequest): Promise<string>;
  /** From now on no answer, and no line of the log, may have this key in it. */
  hideKey(secret: string): void;
  /** No line of the log may have this in it: a password, a token, a cookie. */
  hide(text: string): void;
  /** Every path that the app takes, with its methods. */
  routes(): ReadonlyMap<string, readonly string[]>;
  /** Sends a request (`GET` of the stats of `docs` unless told) and checks the answer in every way that applies. */
  send(request?: TestRequest): Promise<Answer>;
  /** `POST`s to the project `docs`. A body that is not text or bytes goes as JSON. */
  record(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends these bytes over a connection of their own, and checks the answer in the same ways. */
  sendRaw(bytes: string | Uint8Array, about?: { connectionError?: boolean }): Promise<Answer>;
  connect(): Promise<RawConnection>;
  /** Reads the next answer of a connection, and checks it in the same ways. */
  read(connection: RawConnection, asked: Asked): Promise<Answer>;
  listening(): boolean;
  /** How many connections are open. */
  connections(): Promise<number>;
  /** Closes the app, as `serve` does when it is told to stop. */
  close(): Promise<void>;
  /** All that was logged. */
  log(): string;
}

export interface ServiceOptions {
  /** Those of another service on the same database, which has made the projects and keys. */
  readonly keys?: Service['keys'];
  /** A URL of a database of the test's own; a new SQLite file unless told. */
  readonly database?: string;
  readonly users?: Partial<AppOptions['users']>;
  readonly keyLifeMax?: number | null;
  readonly limits?: Partial<AppOptions['limits']>;
  readonly basePath?: BasePath;
  readonly trustProxy?: readonly string[];
  readonly telemetry?: Partial<TelemetryRules>;
  /** Everything unless told: then each request is logged, and so none is answered without the framework. */
  readonly logLevel?: 'trace' | 'info';
  readonly metrics?: RequestMetrics;
}

/** The settings unless a test says otherwise. */
const DEFAULTS = readServerSettings({}, {});

/**
 * One service for all tests of a `describe`: for tables of refusals, which leave nothing behind. Called in a test it
 * gives the service, its list of calls empty.
 */
export function sharedService(options?: ServiceOptions): () => Service {
  const ends: End[] = [];
  let service: Service | undefined;
  beforeAll(async () => {
    service = await startService(options, (end) => ends.unshift(end));
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (service === undefined) throw new Error('the service is for tests, not for their collection');
    service.calls.length = 0;
    return service;
  };
}

type End = () => Promise<void>;

/** A service of its own for one test, gone when it is over. `onEnd` takes what is to be done then, last first. */
export async function startService(
  {
    database,
    keys: givenKeys,
    limits,
    basePath = '',
    trustProxy = [],
    telemetry = {},
    users = {},
    keyLifeMax = null,
    logLevel = 'trace',
    metrics,
  }: ServiceOptions = {},
  onEnd: (end: End) => void = onTestFinished,
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-test-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  const databaseUrl = database ?? `sqlite:${folder}/caller-stats.db`;
  const watched = watchStore(await openStore(databaseUrl));
  const { store, calls } = watched;
  onEnd(() => store.close());
  const clock = { nowMs: startMs };
  const logged: string[] = [];
  const secrets: string[] = [];
  const hidden = new Set<string>();
  onEnd(async () => {
    requireNoKey(logged.join(''), secrets, 'the log');
    // Nothing of it into the message: it would be in the log of the test run.
    const found = [...hidden].filter((one) => logged.some((line) => line.includes(one)));
    expect(found.length, 'a password, token or cookie is in the log').toBe(0);
  });
  const eventLoop = { delayMs: 0 };
  const app = await buildApp({
    store,
    clock: { now: () => clock.nowMs },
    limits: { ...DEFAULTS, requestsPerMinute: 0, failuresPerMinute: 0, ...limits },
    // A busy machine must not fail tests that are about something else.
    eventLoopDelayMs: () => eventLoop.delayMs,
    metrics,
    basePath,
    trustProxy,
    telemetry: { ...DEFAULTS.telemetry, ...telemetry },
    dashboard: {
      pages: await makePages(folder),
      singleSignOnName: users.singleSignOn?.name,
      keyPrefix: 'cs',
      keyLifeMax,
      randomInt: (max) => randomInt(max),
      version: '1.2.3',
    },
    docs: await makeDocs(folder),
    users: {
      publicUrl: undefined,
      secret: undefined,
      singleSignOn: undefined,
      randomInt: (max) => randomInt(max),
      ...users,
    },
    log: pino({ level: logLevel }, { write: (line: string) => logged.push(line) }),
  });
  onEnd(() => app.close());
  const keys = givenKeys ?? (await addProjectsAndKeys(store));
  calls.length = 0;
  const served = await app.inject({ path: `${basePath}/openapi.json` });
  if (served.statusCode !== 200) throw new Error(`there is no document: ${served.payload}`);
  secrets.push(...Object.values(keys));
  return {
    eventLoop,
    watched,
    store,
    calls,
    clock,
    keys,
    databaseUrl,
    hide: (text) => void hidden.add(text),
    hideKey: (secret) => void secrets.push(secret),
    async addKey(id, wish) {
      const secret = await addKey(store, id, wish);
      secrets.push(secret);
      return secret;
    },
    log: () => logged.join(''),
    ...requestsTo(app, { keys, secrets, openApi: OpenApi.of(served.payload) }),
  };
}

type Requests = Pick<
  Service,
  | 'openApi'
  | 'routes'
  | 'send'
  | 'record'
  | 'sendRaw'
  | 'read'
  | 'connect'
  | 'listening'
  | 'connections'
  | 'close'
>;

/** The part of a service that sends requests and checks the answers. */
function requestsTo(
  app: FastifyInstance,
  { keys, secrets, openApi }: Pick<Service, 'keys' | 'openApi'> & { readonly secrets: readonly string[] },
): Requests {
  const port = async (): Promise<number> => {
    if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
    const address = app.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the app has no port');
    return address.port;
  };
  const requests: Requests = {
    openApi,
    routes: () => routesOf(app),
    async send({
      method = 'GET',
      path = STATS,
      key = keys.admin,
      headers: more,
      body,
      failing = false,
      from,
    } = {}) {
      const headers = { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...more };
      // Injected, an answer to HEAD keeps the body that Node would not put on the wire.
      if (method === 'HEAD' && from === undefined) return requests.sendRaw(headOf(path, headers));
      const response = await app.inject({
        method: method as NonNullable<InjectOptions['method']>,
        url: path,
        headers,
        ...(from === undefined ? {} : { remoteAddress: from }),
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : Buffer.from(body) }),
      });
      const answer = {
        status: response.statusCode,
        headers: Object.fromEntries(
          Object.entries(response.headers)
            .filter(([name]) => name !== 'set-cookie')
            .map(([name, value]) => [name, String(value)]),
        ),
        text: method === 'HEAD' ? '' : response.payload,
        bytes: new Uint8Array(response.rawPayload),
        cookies: [response.headers['set-cookie'] ?? []].flat(),
      };
      checkAnswer(openApi, { method, path, failing }, answer, secrets);
      return answer;
    },
    record: (body, headers = {}) =>
      requests.send({
        method: 'POST',
        path: QUERIES,
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    async sendRaw(bytes, { connectionError = false } = {}) {
      const [, method = '', path = ''] = /^(\S+) (\S+) HTTP\//.exec(Buffer.from(bytes).toString()) ?? [];
      const connection = await requests.connect();
      connection.write(bytes);
      const answer = await requests.read(connection, { method, path, connectionError });
      if (answer.headers['connection'] === 'close') await connection.ended();
      connection.close();
      return answer;
    },
    async read(connection, asked) {
      const answer = { ...(await connection.read(asked.method)), cookies: [] };
      checkAnswer(openApi, asked, answer, secrets);
      return answer;
    },
    connect: async () => RawConnection.open(await port()),
    listening: () => app.server.listening,
    connections: () => promisify(app.server.getConnections.bind(app.server))(),
    close: () => app.close(),
  };
  return requests;
}

/** The `message`s of an error's `details`. */
export function detailsOf(answer: Answer): string[] {
  const details = at(JSON.parse(answer.text), 'details') ?? [];
  return (details as unknown[]).map((detail) => String(at(detail, 'message')));
}

/** The `error` of an error. */
export function errorOf(answer: Answer): unknown {
  return at(JSON.parse(answer.text), 'error');
}
