/**
 * A flood of wrong passwords: the latency of recordings, pages and exports, compared with an idle server, and how long the
 * owner takes to sign in from a known browser. Alternately on one server with one process, and on one with two.
 */
import { gzipSync } from 'node:zlib';
import { makeEvents } from './support/events.js';
import { makeRanges, toQueryString } from './support/ranges.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { median } from './support/statistics.js';
import { programArguments, type Server, type Workspace } from './support/workspace.js';

export interface SignInOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly note: (line: string) => void;
}

const connections = 32;
const aimLatency = 3;
const aimSignInMs = 2000;
const lines = 100_000;
const email = 'bench@example.org';
const password = 'a long enough passphrase';
/** Between two requests of a kind: few enough to wait only for the flood. */
const pauseMs = 20;

const KINDS = ['recording', 'page', 'export'] as const;

type Kind = (typeof KINDS)[number];

/** Milliseconds of each request by kind, and of the owner's sign-ins. An idle server has no sign-ins. */
type Times = Readonly<Record<Kind | 'sign-in', readonly number[]>>;

interface Round {
  readonly idle: Times;
  readonly flooded: Times;
  /** Responses to the flood, by status. */
  readonly answers: Readonly<Record<string, number>>;
}

interface Contestant {
  readonly server: Server;
  readonly key: string;
  readonly cookie: string;
}

export async function benchSignIn(workspace: Workspace, options: SignInOptions): Promise<Report> {
  const { rounds, seconds, note } = options;
  const contestants = {
    '1 process': await prepare(workspace, 1),
    '2 processes': await prepare(workspace, 2),
  };
  const done: Record<keyof typeof contestants, Round[]> = { '1 process': [], '2 processes': [] };
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    note(`sign-in: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    for (const [name, contestant] of Object.entries(contestants)) {
      const result = await runRound(workspace, contestant, round === 0 ? 1 : seconds);
      if (round > 0) done[name as keyof typeof done].push(result);
    }
  }
  return toReport(done);
}

/** A server with queries and an owner, whose browser is known. */
async function prepare(workspace: Workspace, workers: number): Promise<Contestant> {
  const database = await Database.create(workspace, `sign-in-${workers}`);
  await database.importEvents(makeEvents(lines, 1), lines);
  const key = await database.createAdminKey();
  const invited = await database.command('member', 'invite', email, '--role', 'owner', '--json');
  const token = new URL((JSON.parse(invited) as { link: string }).link).hash.slice(1);
  // Behind a proxy, each request of the flood comes from another address.
  const server = await database.serve(
    ...['--trust-proxy', '127.0.0.1', '--log-level', 'error', '--workers', String(workers)],
  );
  const { headers } = await post(server, '/api/invitations/accept', { token, name: 'Bench', password });
  const cookie = headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ');
  return { server, key, cookie };
}

async function runRound(workspace: Workspace, contestant: Contestant, seconds: number): Promise<Round> {
  const { url } = contestant.server;
  const idle = await measure(contestant, seconds, KINDS);
  const args = [...programArguments('password-load'), url, `${connections}`, `${seconds + 2}`];
  const flood = workspace.run(process.execPath, args);
  // The load generator takes about a second to start.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const flooded = await measure(contestant, seconds, [...KINDS, 'sign-in']);
  const answers = JSON.parse((await flood).stdout) as Round['answers'];
  if (!Object.keys(answers).every((status) => ['401', '429', '503'].includes(status)))
    throw new Error(`the flood was answered with ${JSON.stringify(answers)}`);
  return { idle, flooded, answers };
}

/** Sends each of these kinds of requests one after the other, all kinds at once, for so many seconds. */
async function measure(
  { server, key, cookie }: Contestant,
  seconds: number,
  kinds: readonly (keyof Times)[],
): Promise<Times> {
  const until = performance.now() + seconds * 1000;
  const counts = `/v1/analytics/${projectId}/assistant`;
  const authorization = `Bearer ${key}`;
  const ranges = makeRanges('ms');
  let number = 0;
  const recorded = () => {
    const query = { id: `${performance.now()}-${number++}`, caller: 'web' };
    return {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(query)),
    };
  };
  const sends: Record<keyof Times, () => Promise<Response>> = {
    recording: () => fetch(`${server.url}${counts}/queries`, recorded()),
    page: () => fetch(`${server.url}/sign-in`),
    export: () => {
      const range = ranges[number++ % ranges.length];
      if (range === undefined) throw new Error('there are no ranges');
      return fetch(`${server.url}${counts}/caller-stats?${toQueryString(range, 'ms')}`, {
        headers: { authorization },
      });
    },
    'sign-in': () => post(server, '/api/sign-in', { email, password }, { cookie }),
  };
  const times = await Promise.all(
    kinds.map(async (kind) => {
      const taken: number[] = [];
      while (performance.now() < until) {
        const startedAt = performance.now();
        const response = await sends[kind]();
        await response.arrayBuffer();
        taken.push(performance.now() - startedAt);
        if (!response.ok) throw new Error(`${kind}: ${response.status}`);
        await new Promise((resolve) => setTimeout(resolve, kind === 'sign-in' ? 10 * pauseMs : pauseMs));
      }
      return [kind, taken] as const;
    }),
  );
  return { recording: [], page: [], export: [], 'sign-in': [], ...Object.fromEntries(times) };
}

async function post(
  { url }: Server,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

function toReport(done: Readonly<Record<string, readonly Round[]>>): Report {
  const each = (make: (name: string, rounds: readonly Round[]) => readonly Figure[]): Figure[] =>
    Object.entries(done).flatMap(([name, rounds]) => make(name, rounds));
  return {
    name: 'sign-in',
    method:
      `${connections} connections try passwords as fast as they get responses, each time from another address and for another ` +
      'person. Beside them, and without them, a client records gzip bodies, loads a page and exports counts every ' +
      `${pauseMs} ms. During the flood, the owner also signs in from a known browser. With one process and with \`--workers 2\`. All programs share the cores.`,
    ratios: each((name, rounds) =>
      KINDS.map((kind) => ({
        what: `${name}: median time of a ${kind}, flooded over idle`,
        values: rounds.map(({ idle, flooded }) => median(flooded[kind]) / median(idle[kind])),
        atMost: aimLatency,
      })),
    ),
    absolutes: each((name, rounds) => [
      ...KINDS.flatMap((kind) =>
        (['idle', 'flooded'] as const).map((when) => ({
          what: `${name}: ${kind}, ${when}: median`,
          unit: 'ms',
          values: rounds.map((round) => median(round[when][kind])),
        })),
      ),
      {
        what: `${name}: the owner's slowest sign-in, flooded`,
        unit: 'ms',
        values: rounds.map(({ flooded }) => Math.max(...flooded['sign-in'])),
        atMost: aimSignInMs,
      },
      {
        what: `${name}: responses to the flood per round`,
        unit: 'requests',
        values: rounds.map(({ answers }) => Object.values(answers).reduce((sum, count) => sum + count, 0)),
      },
      {
        what: `${name}: of those, passwords checked`,
        unit: 'requests',
        values: rounds.map(({ answers }) => answers['401'] ?? 0),
      },
    ]),
  };
}
