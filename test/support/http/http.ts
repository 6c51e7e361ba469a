/** A whole service for tests: a real store and app, with a clock that a test moves. */
import { randomInt } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { ClockWatch } from '../../../src/app/jobs/clock-watch.js';
import { readServerSettings } from '../../../src/cli/settings/server-settings.js';
import type { TelemetryTexts } from '../../../src/domain/queries/telemetry-settings.js';
import type { Clock } from '../../../src/domain/time/clock.js';
import { type AppOptions, buildApp } from '../../../src/http/app.js';
import type { BasePath } from '../../../src/http/request/base-path.js';
import type { ServerMetrics } from '../../../src/http/server/metrics.js';
import { answerToolRequest } from '../../../src/mcp/server.js';
import { openStore } from '../../../src/storage/open.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { requireNoKey } from '../secrets.js';
import { by, projectOf } from '../storage/entities.js';
import { type NewDatabase, noteSqliteRows, reusedDatabase } from '../storage/reused-database.js';
import { templateFolder } from '../templates.js';
import { type Answer, type Asked, checkAnswer, statusMessageOf } from './http-checks.js';
import { addKey, addProjectsAndKeys, type KeyName, type KeyRequest, startMs } from './http-keys.js';
import { headOf, RawConnection } from './http-raw.js';
import { type WatchedStore, watchStore } from './http-store.js';
import { at, OpenApi } from './openapi.js';
import { makeDocs, makePages } from './pages.js';
import { routesOf } from './routes.js';

export { type KeyName, startMs } from './http-keys.js';

export const STATS = '/v1/analytics/docs/assistant/caller-stats';
export const SERIES = `${STATS}/series`;
export const CALLERS = '/v1/analytics/docs/assistant/callers';
export const QUERIES = '/v1/analytics/docs/assistant/queries';

export interface TestRequest {
  readonly method?: string;
  readonly path?: string;
  /** Sent as `Authorization: Bearer`; null sends none. Default: the admin key. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** See `Asked.failing`. */
  readonly failing?: boolean;
  /** The address that the connection comes from. */
  readonly from?: string;
}

/** The methods that send requests and check the responses. */
interface Requests {
  readonly openApi: OpenApi;
  /** Every path of the app with its methods. */
  routes(): ReadonlyMap<string, readonly string[]>;
  /** Sends a request (default: `GET` the counts of `docs`) and runs `checkAnswer` on the response. */
  send(request?: TestRequest): Promise<Answer>;
  /** Records into the project `docs`. A body that is neither text nor bytes is sent as JSON. */
  record(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Sends bytes over a new connection and runs `checkAnswer` on the response. */
  sendRaw(bytes: string | Uint8Array, about?: { connectionError?: boolean }): Promise<Answer>;
  connect(): Promise<RawConnection>;
  /** Reads the next response of a connection and runs `checkAnswer` on it. */
  read(connection: RawConnection, asked: Asked): Promise<Answer>;
  /** The address of the server, without a path. */
  origin(): Promise<string>;
  listening(): boolean;
  /** Number of open connections. */
  connections(): Promise<number>;
  /** Closes the app, as `serve` does when it stops. */
  close(): Promise<void>;
}

export interface Service extends Requests, Pick<WatchedStore, 'calls' | 'store'> {
  readonly watched: WatchedStore;
  readonly clock: { nowMs: number };
  /** The origin of the server's pages in a browser. */
  readonly pageOrigin: string;
  /** The event loop delay that the app measures. */
  readonly eventLoop: { delayMs: number };
  readonly keys: Readonly<Record<KeyName, string>>;
  /** Opens the same database. */
  readonly databaseUrl: string;
  /** Stores a new key and returns its secret. */
  addKey(id: string, wish: KeyRequest): Promise<string>;
  /** From now on, neither a response nor the log may contain this key. */
  hideKey(secret: string): void;
  /** The log must not contain this password, token or cookie. */
  hide(text: string): void;
  /** Adds an empty project, for a test that shares its service with others. */
  addProject(): Promise<ProjectRequests>;
  /** The log so far. */
  log(): string;
}

/** Requests for one project, with the admin key. */
interface ProjectRequests {
  /** As `record` of a service. */
  record(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The counts, for a query string that begins with "?". */
  count(queryString?: string): Promise<unknown>;
}

export interface ServiceOptions {
  /** The keys of another service, which has added the projects and keys to this database. */
  readonly keys?: Service['keys'];
  /** Default: a SQLite file, which tests use one after the other. */
  readonly database?: string | undefined;
  /** The SQLite file is of this test alone, which closes or damages it. */
  readonly ownFile?: boolean;
  readonly users?: Partial<AppOptions['users']>;
  readonly keyLifeMax?: number | null;
  readonly shareLinks?: AppOptions['dashboard']['shareLinks'];
  readonly limits?: Partial<AppOptions['limits']>;
  readonly basePath?: BasePath;
  readonly trustProxy?: readonly string[];
  /** The project `docs` has these texts. */
  readonly telemetry?: Partial<TelemetryTexts>;
  /** Default: neither e-mail nor private networks. */
  readonly notifications?: Partial<AppOptions['notifications']>;
  /** Default: `trace`, which logs each request. */
  readonly logLevel?: 'trace' | 'info';
  readonly metrics?: ServerMetrics;
  /** The time at the start. Default: `startMs`. */
  readonly nowMs?: number;
  readonly resetDelayMsMax?: number;
  readonly clockWatch?: (clock: Clock) => ClockWatch;
}

/** How people sign in: with a password, at the address that they use. */
const LOCAL_USERS: AppOptions['users'] = {
  publicUrl: undefined,
  secrets: async () => [],
  singleSignOn: undefined,
  randomInt: (max) => randomInt(max),
};

/** The server's default settings. */
const DEFAULTS = readServerSettings({}, {});

/**
 * Starts one service for all tests of a `describe`, which must not disturb each other. `prepare` runs once before them.
 * The returned function gives a test the service, with its list of calls emptied.
 */
export function sharedService(
  options?: ServiceOptions,
  prepare?: (service: Service) => Promise<unknown>,
): () => Service {
  const ends: End[] = [];
  let service: Service | undefined;
  beforeAll(async () => {
    service = await startService(options, (end) => ends.unshift(end));
    await prepare?.(service);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (service === undefined)
      throw new Error('call this inside a test: the service starts before the first one');
    service.calls.length = 0;
    return service;
  };
}

type End = () => Promise<void>;

/** Starts a service that stops after the test. `onEnd` registers clean-up functions, which run in reverse order. */
export async function startService(
  {
    database,
    ownFile = false,
    keys: givenKeys,
    limits,
    basePath = '',
    trustProxy = [],
    telemetry,
    users = {},
    notifications = {},
    nowMs = startMs,
    keyLifeMax = null,
    shareLinks = 'any',
    logLevel = 'trace',
    metrics,
    resetDelayMsMax = 0,
    clockWatch,
  }: ServiceOptions = {},
  onEnd: (end: End) => void = onTestFinished,
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-test-'));
  onEnd(() => rm(folder, { recursive: true, force: true }));
  const { databaseUrl, keys, opened } = await databaseFor({ database, ownFile }, givenKeys, onEnd);
  const watched = watchStore(opened);
  const { store, calls } = watched;
  if (telemetry !== undefined) await store.directory.changeProject('default', 'docs', telemetry, by);
  const clock = { nowMs };
  const logged: string[] = [];
  const secrets: string[] = [];
  const hidden = new Set<string>();
  onEnd(async () => {
    requireNoKey(logged.join(''), secrets, 'the log');
    // The message must not contain the secret, or it would be in the log of the test run.
    const log = logged.join('');
    const found = [...hidden].filter((one) => log.includes(one));
    expect(found.length, 'a password, token or cookie is in the log').toBe(0);
  });
  const eventLoop = { delayMs: 0 };
  const options: AppOptions = {
    store,
    clock: { now: () => clock.nowMs },
    ...(clockWatch && { clockWatch: clockWatch({ now: () => clock.nowMs }) }),
    limits: { ...DEFAULTS, requestsPerMinute: 0, failuresPerMinute: 0, ...limits },
    // Other tests must not fail because the machine is busy.
    eventLoopDelayMs: () => eventLoop.delayMs,
    metrics,
    basePath,
    trustProxy,
    dashboard: {
      pages: await makePages(folder),
      singleSignOn: users.singleSignOn !== undefined,
      keyPrefix: 'cs',
      keyLifeMax,
      shareLinks,
      randomInt: (max) => randomInt(max),
      resetDelayMsMax,
      version: '1.2.3',
    },
    docs: await makeDocs(folder),
    notifications: { mail: undefined, privateNetworks: [], ...notifications },
    mcp: (call) =>
      answerToolRequest(call, {
        clock: { now: () => clock.nowMs },
        version: '1.2.3',
        report: (message) => void logged.push(message),
      }),
    users: { ...LOCAL_USERS, ...users },
    log: pino({ level: logLevel }, { write: (line: string) => logged.push(line) }),
  };
  const openApi = await openApiOf(options);
  const app = await buildApp(options);
  onEnd(() => app.close());
  calls.length = 0;
  secrets.push(...Object.values(keys));
  const requests = requestsTo(app, { keys, secrets, openApi });
  return {
    eventLoop,
    watched,
    store,
    calls,
    clock,
    pageOrigin: users.publicUrl ?? 'http://localhost:80',
    keys,
    databaseUrl,
    hide: (text) => void hidden.add(text),
    hideKey: (secret) => void secrets.push(secret),
    async addKey(id, wish) {
      const secret = await addKey(store, id, wish);
      secrets.push(secret);
      return secret;
    },
    addProject: () => addProject(store, requests),
    log: () => logged.join(''),
    ...requests,
  };
}

/** The database of a service, with the projects and keys of `http-keys.ts`: one that is given, or a SQLite file. */
async function databaseFor(
  { database, ownFile }: Required<Pick<ServiceOptions, 'database' | 'ownFile'>>,
  givenKeys: Service['keys'] | undefined,
  onEnd: (end: End) => void,
): Promise<Pick<Service, 'databaseUrl' | 'keys'> & { readonly opened: Store }> {
  if (database !== undefined) {
    const keys = givenKeys ?? (await addKeysTo(database));
    const opened = await openStore(database);
    onEnd(() => opened.close());
    return { databaseUrl: database, keys, opened };
  }
  const template = await templateFolder('service', async (draft) => {
    const keys = await addKeysTo(`sqlite:${draft}/caller-stats.db`);
    await writeFile(join(draft, 'keys.json'), JSON.stringify(keys));
  });
  const keys =
    givenKeys ?? (JSON.parse(await readFile(join(template, 'keys.json'), 'utf8')) as Service['keys']);
  if (!ownFile) {
    const { database: one, open } = await reusedDatabase('service', () => copyDatabase(template), onEnd);
    return { databaseUrl: one.url, keys, opened: await open() };
  }
  const own = await copyDatabase(template);
  onEnd(own.remove);
  const opened = await own.open();
  onEnd(() => opened.close());
  return { databaseUrl: own.url, keys, opened };
}

/** A new database with the projects and keys. */
async function copyDatabase(template: string): Promise<NewDatabase & { readonly url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-service-'));
  const file = join(folder, 'caller-stats.db');
  await copyFile(join(template, 'caller-stats.db'), file);
  const url = `sqlite:${file}`;
  return {
    url,
    open: () => openStore(url),
    noteRows: async () => noteSqliteRows(file),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function addKeysTo(databaseUrl: string): Promise<Service['keys']> {
  const store = await openStore(databaseUrl);
  try {
    return await addProjectsAndKeys(store);
  } finally {
    await store.close();
  }
}

const openApis = new Map<string, Promise<OpenApi>>();

/** The document of all services with what it depends on, because generating it takes as long as their start. */
function openApiOf(options: AppOptions): Promise<OpenApi> {
  const name = `${options.basePath} ${options.limits.bodyBytesMax}`;
  const known =
    openApis.get(name) ?? askForOpenApi({ ...options, log: pino({ level: 'silent' }), metrics: undefined });
  openApis.set(name, known);
  return known;
}

async function askForOpenApi(options: AppOptions): Promise<OpenApi> {
  const app = await buildApp(options);
  try {
    const { statusCode, payload } = await app.inject({ path: `${options.basePath}/openapi.json` });
    if (statusCode !== 200) throw new Error(`GET /openapi.json failed: ${payload}`);
    return new OpenApi(JSON.parse(payload) as object);
  } finally {
    await app.close();
  }
}

let projectsAdded = 0;

async function addProject(store: Store, { send }: Pick<Service, 'send'>): Promise<ProjectRequests> {
  const id = `project-${++projectsAdded}`;
  await store.directory.createProject(projectOf(id, { createdAt: startMs }), by);
  const pathOf = (path: string) => path.replace('docs', id);
  return {
    record: (body, headers) => send(recordingRequest(pathOf(QUERIES), body, headers)),
    count: async (queryString = '') => JSON.parse((await send({ path: pathOf(STATS) + queryString })).text),
  };
}

function recordingRequest(path: string, body: unknown, headers: Record<string, string> = {}): TestRequest {
  return {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  };
}

function requestsTo(
  app: FastifyInstance,
  { keys, secrets, openApi }: Pick<Service, 'keys' | 'openApi'> & { readonly secrets: readonly string[] },
): Requests {
  const port = async (): Promise<number> => {
    if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
    const address = app.server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the app does not listen on a port');
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
      // With `inject`, the response to HEAD would keep the body that Node does not send.
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
    record: (body, headers) => requests.send(recordingRequest(QUERIES, body, headers)),
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
    origin: async () => `http://127.0.0.1:${await port()}`,
    listening: () => app.server.listening,
    connections: () => promisify(app.server.getConnections.bind(app.server))(),
    close: () => app.close(),
  };
  return requests;
}

/** The bytes of a recording request up to its body. `more` has headers about the body, such as its length. */
export function recordingHead({ keys }: Pick<Service, 'keys'>, more: string): string {
  const host = `POST ${QUERIES} HTTP/1.1\r\nHost: test\r\n`;
  return `${host}Authorization: Bearer ${keys.recording}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
}

/** The messages in the `details` of an error. */
export function detailsOf(answer: Answer): string[] {
  const details = at(JSON.parse(answer.text), 'details') ?? [];
  return (details as unknown[]).map((detail) => String(at(detail, 'message')));
}

/** The `error` field of an error, or the message of one in protobuf. */
export function errorOf(answer: Answer): unknown {
  const message = statusMessageOf(answer);
  if (message !== undefined) return message;
  return at(JSON.parse(answer.text), 'error');
}
