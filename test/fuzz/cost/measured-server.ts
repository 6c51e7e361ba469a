/** A server whose processor time is measured, as a process with a database of its own. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type OutgoingHttpHeaders, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import {
  keyNetworksMax,
  keysMax,
  nameCharactersMax,
  projectIdCharactersMax,
  projectsMax,
  readerProjectsMax,
} from '../../../src/domain/limits.js';
import { firstRunOf, kill, matched, type Running, startProcess, urlIn } from '../../support/cli/process.js';
import { residentBytesOf } from '../../support/resident-memory.js';
import { isDeep } from '../../support/volume.js';
import { HISTORY_PROJECT, type HistorySize, historyLines } from './history.js';
import { operationsOf, type Request, type Shared } from './operations.js';
import { toProtobuf } from './protobuf.js';
import { numbered, type Tree, toJson, toLines, toQuery } from './tree.js';

const probe = fileURLToPath(new URL('probe.mjs', import.meta.url));

const TYPES = {
  pipelined: '',
  json: 'application/json',
  lines: 'application/x-ndjson',
  fields: 'application/x-www-form-urlencoded',
  protobuf: 'application/x-protobuf',
};

/** Requests at once that make entries of the audit log. */
const auditConnections = 16;

/** So long a server that is given up may take to tell how it went. */
const soonMs = 2000;

/** Callers in the database: more than most projects have, and as many as `limits.md` speaks of. */
const callers = isDeep ? 50_000 : 5000;

/** Of keys, and of projects. */
const listed = isDeep ? Math.min(keysMax, projectsMax) - 20 : 250;

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly by: Request['by'];
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** What it accepts, if that is not JSON. */
  readonly accept?: string | undefined;
  /** Of the body before it is compressed, unless that is `body`. */
  readonly plainBytes?: number;
  /** See `Request`. */
  readonly isFixed?: boolean;
  /** Whether the body is what is sent, and closes its connection. */
  readonly isRaw?: boolean;
}

/** What a request took of the event loop: the longest turn, and all of them. */
export interface Share {
  readonly bytes: number;
  readonly plainBytes: number;
  readonly usedMs: number;
  readonly longestMs: number;
  readonly isFixed: boolean;
}

/** What requests took together. */
export interface Cost extends Omit<Share, 'isFixed'> {
  readonly statuses: readonly number[];
  readonly requests: readonly Share[];
  readonly residentBytes: number;
  /** Whether the server was given up, because it did not end or ended by itself. */
  readonly isLost: boolean;
}

export interface ServerOptions {
  readonly databaseUrl?: string | undefined;
  /** Of one more project. */
  readonly history?: HistorySize | undefined;
}

interface Probed {
  readonly usedMs: number;
  readonly longestMs: number;
  readonly loadMs: number;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export function write(
  { method, path, by, form, query, body, accept, isFixed = false }: Request,
  isPacked: boolean,
): Sent {
  const target = query === undefined ? path : `${path}?${toQuery(query)}`;
  if (body === undefined || form === undefined)
    return { method, path: target, by, headers: {}, body: Buffer.alloc(0), accept, isFixed };
  if (form === 'pipelined') return { method, path, by, headers: {}, body: pipelined(body), isRaw: true };
  const plain =
    form === 'protobuf'
      ? toProtobuf(body)
      : form === 'fields'
        ? Buffer.from(textsOf(body).join('&'))
        : Buffer.from(numbered(form === 'lines' ? toLines(body) : toJson(body), 1));
  // All others refuse compressed bodies.
  const packs = isPacked && (by === 'recording' || path.endsWith('/imported-counts'));
  return {
    ...{
      method,
      path: target,
      by,
      body: packs ? gzipSync(plain) : plain,
      plainBytes: plain.length,
      isFixed,
    },
    headers: { 'content-type': TYPES[form], ...(packs && { 'content-encoding': 'gzip' }) },
  };
}

function textsOf(body: Tree): string[] {
  const lines = numbered(toLines(body), 1).trimEnd().split('\n');
  return lines.map((line) => line.replaceAll(/^"|"$/g, ''));
}

function pipelined(body: Tree): Buffer {
  const requests = textsOf(body).map((line) => `${line} HTTP/1.1\r\n\r\n`);
  return Buffer.from(`${requests.join('')}GET / HTTP/1.1\r\nConnection: close\r\n\r\n`);
}

function sizesOf({ body, path, plainBytes = body.length, isFixed = false }: Sent) {
  return { bytes: body.length + path.length, plainBytes: plainBytes + path.length, isFixed };
}

export class MeasuredServer {
  readonly #program: string;
  readonly #folder: string;
  readonly #databaseUrl: string;
  readonly #keys: Record<Request['by'], OutgoingHttpHeaders>;
  #process: Running | undefined;
  #port = 0;
  #isAlive = false;
  #shared: Shared = { all: '', history: '' };

  /** `databaseUrl` is that of an empty database, unless it makes a file of its own. */
  static async start(program: string, { databaseUrl, history }: ServerOptions = {}): Promise<MeasuredServer> {
    const folder = await mkdtemp(join(tmpdir(), 'caller-stats-work-'));
    const server = new MeasuredServer(program, folder, databaseUrl ?? `sqlite:${join(folder, 'work.db')}`);
    const stdout = await server.#run('--demo');
    const { admin, recording } = firstRunOf({ stdout });
    server.#keys.admin = { authorization: `Bearer ${admin}` };
    server.#keys.recording = { authorization: `Bearer ${recording}` };
    await server.#signUp(matched(stdout, /\/set-up#(\S+)$/m));
    await server.#addCallers();
    await server.#fillOrganization();
    if (history !== undefined) await server.#addHistory(history);
    return server;
  }

  private constructor(program: string, folder: string, databaseUrl: string) {
    this.#program = program;
    this.#folder = folder;
    this.#databaseUrl = databaseUrl;
    this.#keys = { admin: {}, recording: {}, owner: {}, anybody: {} };
    process.once('exit', this.#kill);
  }

  readonly #kill = (): void => {
    this.#signal('SIGKILL');
  };

  #signal(signal: NodeJS.Signals): void {
    if (this.#process !== undefined && this.#isAlive) kill(this.#process.pid, signal);
  }

  get operations(): ReadonlyMap<string, readonly Request[]> {
    return operationsOf(this.#shared);
  }

  /** The time of a piece of work that is the same on every machine: the least of several. */
  async load(): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let time = 0; time < 8; time++) least = Math.min(least, (await this.#probe('/load')).loadMs);
    return least;
  }

  /** Sends the requests one after another. Gives the server up once one of them took `limitMs` of processor time. */
  async measure(requests: readonly Sent[], limitMs: number): Promise<Cost> {
    if (!this.#isAlive) await this.#run();
    const before = await this.#probe('/');
    const [statuses, shares]: [number[], Share[]] = [[], []];
    let last = before;
    const all = async (): Promise<true> => {
      for (const request of requests) {
        statuses.push((await this.#send(request)).status);
        const { usedMs, longestMs } = await this.#probe('/');
        shares.push({ ...sizesOf(request), usedMs: usedMs - last.usedMs, longestMs });
        last = { ...last, usedMs };
      }
      return true;
    };
    const isLost = (await this.#untilLost(all(), () => last.usedMs + limitMs)) === undefined;
    const residentBytes = residentBytesOf(this.#process?.pid) ?? 0;
    const sum = (name: 'bytes' | 'plainBytes') =>
      requests.reduce((all, request) => all + sizesOf(request)[name], 0);
    const usedMs = ((isLost ? this.#usedMs() : undefined) ?? last.usedMs) - before.usedMs;
    if (isLost) {
      const request = requests[shares.length];
      const lostMs = before.usedMs + usedMs - last.usedMs;
      // A server that still answers reads a large request in turns.
      const longestMs = (await this.#probeSoon())?.longestMs ?? lostMs;
      if (request !== undefined) shares.push({ ...sizesOf(request), usedMs: lostMs, longestMs });
      await this.restart();
    }
    const sizes = { bytes: sum('bytes'), plainBytes: sum('plainBytes') };
    const longestMs = shares.reduce((most, share) => Math.max(most, share.longestMs), 0);
    return { ...sizes, statuses, usedMs, longestMs, requests: shares, residentBytes, isLost };
  }

  /** The longest turn while connections open at once, send these bytes, are answered, and end at once: several times. */
  async measureConnections(count: number, bytes: Buffer): Promise<number> {
    if (!this.#isAlive) await this.#run();
    await this.#probe('/');
    for (let time = 0; time < 3; time++) {
      const sockets = await Promise.all(Array.from({ length: count }, () => this.#open(bytes)));
      this.#signal('SIGSTOP');
      await Promise.all(sockets.map((socket) => once(socket.destroy(), 'close')));
      this.#signal('SIGCONT');
    }
    // Those that ended before this one have gone.
    await this.#sendRaw(Buffer.from('GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'));
    return (await this.#probe('/')).longestMs;
  }

  async restart(): Promise<void> {
    this.#kill();
    await this.#process?.ended;
    await this.#run();
  }

  async remove(): Promise<void> {
    process.off('exit', this.#kill);
    this.#kill();
    await this.#process?.ended;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #run(...more: string[]): Promise<string> {
    const serve = ['serve', ...more, '--port', '0', '--log-level', 'silent', '--failures-per-minute', '0'];
    const socket = join(this.#folder, 'probe');
    await rm(socket, { force: true });
    const env = {
      DATABASE_URL: this.#databaseUrl,
      CALLER_STATS_FUZZ_SOCKET: socket,
    };
    const started = startProcess(process.execPath, ['--import', probe, this.#program, ...serve], {
      env,
      hangMs: 0,
      cwd: this.#folder,
    });
    this.#process = started;
    this.#isAlive = true;
    void started.ended.then(() => {
      if (this.#process === started) this.#isAlive = false;
    });
    const stdout = await started.printed(/^Documentation: .+\n/m);
    this.#port = Number(new URL(urlIn(stdout)).port);
    return stdout;
  }

  /** The owner of the dashboard, and a share link. */
  async #signUp(token: string): Promise<void> {
    const post = (path: string, body: object) =>
      this.#ask({
        ...{ method: 'POST', path, by: 'owner' },
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(body)),
      });
    const own = { origin: `http://127.0.0.1:${this.#port}`, 'sec-fetch-site': 'same-origin' };
    this.#keys.owner = own;
    const { headers } = await post('/api/set-up', {
      token,
      name: 'Ada',
      email: 'ada@example.org',
      password: 'a long enough passphrase',
    });
    const cookies = (headers['set-cookie'] as string[]).map((cookie) => cookie.split(';')[0]);
    this.#keys.owner = { ...own, cookie: cookies.join('; ') };
    this.#shared = { ...this.#shared, all: await this.#share('assistant-demo') };
  }

  /** Makes a share link, and returns the path of its API. */
  async #share(projectId: string): Promise<string> {
    const { text } = await this.#change(`projects/${projectId}/share-links`, { name: 'all' });
    return `/api/shared/${(JSON.parse(text) as { token: string }).token}`;
  }

  async #addCallers(): Promise<void> {
    for (let batch = 0; batch < callers / 1000; batch++) {
      const queries = Array.from({ length: 1000 }, (_, at) => {
        const number = batch * 1000 + at;
        const month = String((number % 10) + 1).padStart(2, '0');
        return {
          id: numbered('seed {i}', number),
          caller: `caller-${number}`,
          occurredAt: `2026-${month}-03T00:00:00Z`,
        };
      });
      const body = Buffer.from(JSON.stringify(queries));
      const path = '/v1/analytics/assistant-demo/assistant/queries';
      await this.#ask({
        method: 'POST',
        path,
        by: 'admin',
        headers: { 'content-type': 'application/json' },
        body,
      });
    }
  }

  /** Keys, invitations and projects that are as long as they can be. */
  async #fillOrganization(): Promise<void> {
    const all = Array.from({ length: listed }, (_, number) => String(number).padStart(4, '0'));
    const ids = all.slice(0, readerProjectsMax).map((number) => number.padStart(projectIdCharactersMax, 'p'));
    const many = Array.from({ length: 90 }, (_, one) => 100 + one);
    const wide = {
      otlpQuery: many.map((one) => `rule${one}=a`).join(';'),
      otlpSiteOrigins: many.map((one) => `http://${one}`).join(),
    };
    for (const [at, number] of all.entries()) {
      const name = number.padStart(nameCharactersMax, 'n');
      const allow = Array.from(
        { length: keyNetworksMax },
        (_, one) => `2001:db8:${number}:${one}:1:2:3:4/128`,
      );
      const id = ids[at];
      const { text } = await this.#change('projects', { name, ...(id === undefined ? {} : { id }) });
      await this.#change(`projects/${(JSON.parse(text) as { id: string }).id}`, wide, 'PATCH');
      await this.#change('keys', { name, type: 'admin', allow });
      if (at >= ids.length)
        await this.#change('invitations', { email: `${name}@example.org`, role: 'reader', projects: ids });
    }
  }

  async #addHistory(size: HistorySize): Promise<void> {
    await this.#change('projects', { name: 'history', id: HISTORY_PROJECT });
    this.#shared = { ...this.#shared, history: await this.#share(HISTORY_PROJECT) };
    const file = join(this.#folder, 'history.ndjson');
    await writeFile(file, historyLines(size));
    const { status, stderr } = await startProcess(
      process.execPath,
      [this.#program, 'import', '--strict', '--project', HISTORY_PROJECT, file],
      { env: { DATABASE_URL: this.#databaseUrl }, cwd: this.#folder, hangMs: 0 },
    ).ended;
    if (status !== 0) throw new Error(`The history cannot be imported: ${stderr}`);
    await rm(file);
    await this.#fillAuditLog(size.auditEntries);
  }

  /** Each new name of a project is an entry. */
  async #fillAuditLog(entries: number): Promise<void> {
    let left = entries;
    const rename = async (id: string): Promise<void> => {
      while (left-- > 0) await this.#change(`projects/${id}`, { name: `history ${left}` }, 'PATCH', agent);
    };
    const agent = new Agent({ keepAlive: true, maxSockets: auditConnections });
    await Promise.all(Array.from({ length: auditConnections }, () => rename(HISTORY_PROJECT)));
    agent.destroy();
  }

  /** A change by the owner that must succeed. */
  #change(
    path: string,
    body: object,
    method: Sent['method'] = 'POST',
    agent: Agent | false = false,
  ): Promise<Answer> {
    const request = {
      ...{ method, path: `/api/organizations/default/${path}`, by: 'owner' as const },
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    };
    return this.#ask(request, agent);
  }

  /** Sends a request that must succeed. */
  async #ask(request: Sent, agent: Agent | false = false): Promise<Answer> {
    const answer = await this.#send(request, agent);
    if (answer.status >= 300 || answer.status === 0)
      throw new Error(`${request.path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Status 0 without an answer. */
  #send(
    { method, path, by, headers, body, accept, isRaw = false }: Sent,
    agent: Agent | false = false,
  ): Promise<Answer> {
    if (isRaw) return this.#sendRaw(body);
    const own = this.#keys[by];
    const origin = path.startsWith('/api/') ? { origin: `http://127.0.0.1:${this.#port}` } : {};
    const options = {
      ...{ host: '127.0.0.1', port: this.#port, agent, method, path },
      headers: {
        ...own,
        ...origin,
        ...headers,
        ...(method === 'GET' ? {} : { 'content-length': body.length }),
        accept: accept ?? 'application/json, text/event-stream',
      },
    };
    return new Promise((resolve) => {
      const none = (): void => resolve({ status: 0, headers: {}, text: '' });
      const sent = send(options, (answer) => {
        let [text, length] = ['', 0];
        answer.setEncoding('latin1').on('data', (piece: string) => {
          length += piece.length;
          if (length < 100_000) text += piece;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        answer.on('error', none);
      });
      sent.on('error', none);
      // After an early answer, nobody else looks at errors of the connection.
      if (agent === false) sent.on('socket', (socket) => socket.on('error', none));
      sent.end(body);
    });
  }

  #sendRaw(bytes: Buffer): Promise<Answer> {
    return new Promise((resolve) => {
      const socket = connect(this.#port, '127.0.0.1', () => socket.write(bytes));
      socket.resume().on('error', () => {});
      socket.once('close', () => resolve({ status: 0, headers: {}, text: '' }));
    });
  }

  /** Resolves with a connection when it has received something. */
  async #open(bytes: Buffer): Promise<Socket> {
    const socket = connect(this.#port, '127.0.0.1', () => socket.write(bytes));
    await once(socket, 'data');
    return socket.on('error', () => {});
  }

  #probe(path: '/' | '/load', signal?: AbortSignal): Promise<Probed> {
    return new Promise((resolve, reject) => {
      const options = { socketPath: join(this.#folder, 'probe'), path, agent: false, signal };
      const asked = send(options, (answer) => {
        let text = '';
        answer.on('data', (piece: Buffer) => {
          text += piece.toString();
        });
        answer.on('end', () => resolve(JSON.parse(text) as Probed));
      });
      asked.on('error', reject).end();
    });
  }

  /** Undefined if the server does not answer soon. */
  #probeSoon(): Promise<Probed | undefined> {
    return this.#probe('/', AbortSignal.timeout(soonMs)).catch(() => undefined);
  }

  async #untilLost(work: Promise<true>, endMs: () => number): Promise<true | undefined> {
    const lost = new AbortController();
    const looks = setInterval(() => {
      if (!this.#isAlive || (this.#usedMs() ?? 0) > endMs()) lost.abort();
    }, 100);
    const isLost = new Promise<undefined>((resolve) =>
      lost.signal.addEventListener('abort', () => resolve(undefined)),
    );
    try {
      return await Promise.race([work.catch(() => isLost), isLost]);
    } finally {
      clearInterval(looks);
    }
  }

  /** Seen from outside, while its event loop is busy; undefined except on Linux. */
  #usedMs(): number | undefined {
    const pid = this.#process?.pid;
    const file = `/proc/${pid}/task/${pid}/schedstat`;
    return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6 : undefined;
  }
}
