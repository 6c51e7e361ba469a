/**
 * HTTP clients of several languages, which send large bodies. The programs beside this file read one request per line (client,
 * method, URL, bytes of the body, framing and headers, separated by tabs) and print a line for each response: status and
 * body, or 0 and the error.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../cli/process.js';

export interface LargeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly framing: 'length' | 'chunked';
}

interface ClientAnswer {
  /** 0 if the client got no response. */
  readonly status: number;
  /** The body, or the client's error. */
  readonly body: string;
}

export interface HttpClient {
  readonly name: string;
  /** Whether it waits for `100 Continue` if it is told to. */
  readonly canExpect: boolean;
  readonly send: (requests: readonly LargeRequest[]) => Promise<ClientAnswer[]>;
}

const hangMs = 60_000;
const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

function runs(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function clientIn(client: string, canExpect: boolean, command: string, ...args: string[]): HttpClient {
  return {
    name: client,
    canExpect,
    async send(requests) {
      const lines = requests.map(({ method, url, headers, bytes, framing }) =>
        [
          ...[client, method, url, bytes, framing],
          ...Object.entries(headers).map((header) => header.join(': ')),
        ].join('\t'),
      );
      const input = lines.map((line) => `${line}\n`).join('');
      const { stdout, stderr } = await startProcess(command, args, { input, hangMs, env: { HOME: tmpdir() } })
        .ended;
      const answers = stdout
        .trimEnd()
        .split('\n')
        .map((line) => ({ status: Number(line.split('\t')[0]), body: line.split('\t').slice(1).join('\t') }));
      if (answers.length !== requests.length) throw new Error(`${command} stopped early: ${stdout}${stderr}`);
      return answers;
    },
  };
}

async function sendWithCurl({ method, url, headers, bytes, framing }: LargeRequest): Promise<ClientAnswer> {
  const file = join(mkdtempSync(join(tmpdir(), 'caller-stats-test-')), 'body');
  const handle = await open(file, 'w');
  await handle.truncate(bytes);
  await handle.close();
  // curl itself adds an Expect to large bodies.
  const all = {
    Expect: '',
    ...headers,
    ...(framing === 'chunked' ? { 'Transfer-Encoding': 'chunked' } : {}),
  };
  const lines = Object.entries(all).flatMap(([name, value]) => [
    '-H',
    `${name}:${value === '' ? '' : ` ${value}`}`,
  ]);
  const body = framing === 'chunked' ? ['-T', file] : ['--data-binary', `@${file}`];
  const args = [
    '-sS',
    '--expect100-timeout',
    '60',
    '-X',
    method,
    ...lines,
    ...body,
    '-w',
    '\n%{http_code}',
    url,
  ];
  const { status, stdout, stderr } = await startProcess('curl', args, { hangMs }).ended;
  await rm(file);
  const end = stdout.lastIndexOf('\n');
  return status === 0
    ? { status: Number(stdout.slice(end + 1)), body: stdout.slice(0, end) }
    : { status: 0, body: stderr };
}

const curl: HttpClient = {
  name: 'curl',
  canExpect: true,
  async send(requests) {
    const answers: ClientAnswer[] = [];
    for (const request of requests) answers.push(await sendWithCurl(request));
    return answers;
  },
};

export interface FoundClients {
  readonly clients: readonly HttpClient[];
  /** What this machine does not have. */
  readonly missing: readonly string[];
}

/** Clients that start at once: curl and those of Node and Python. */
export function findQuickClients(): FoundClients {
  const node = ['fetch', 'http'].map((name) =>
    clientIn(name, name === 'http', process.execPath, fileOf('request.mjs')),
  );
  if (!runs('python3', '--version')) return { clients: [curl, ...node], missing: ['python3'] };
  const python = (name: string) => clientIn(name, false, 'python3', fileOf('request.py'));
  const clients = [curl, ...node, python('http.client'), python('urllib')];
  return runs('python3', '-c', 'import requests')
    ? { clients: [...clients, python('requests')], missing: [] }
    : { clients, missing: ["Python's requests"] };
}

/** The clients of Go and Java as well, compiled into `folder`. */
export function findClients(folder: string): FoundClients {
  const { clients, missing } = findQuickClients();
  const found = [...clients];
  const absent = [...missing];
  if (runs('go', 'version')) {
    const program = join(folder, 'request');
    const env = { PATH: process.env['PATH'], GOCACHE: join(folder, 'cache'), HOME: folder };
    execFileSync('go', ['build', '-o', program, fileOf('request.go')], { env });
    found.push(clientIn('Go', true, program));
  } else absent.push('go');
  if (runs('javac', '-version')) {
    execFileSync('javac', ['-d', folder, fileOf('Request.java')]);
    // Java's HttpClient (17) never returns if the response to an Expect is not 100.
    for (const name of ['HttpClient', 'HttpURLConnection'])
      found.push(clientIn(name, false, 'java', '-cp', folder, 'Request'));
  } else absent.push('javac');
  return { clients: found, missing: absent };
}
