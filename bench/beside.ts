/**
 * Recordings beside readers: what a server records while all of its other connections read without a pause, compared with what it records
 * when nobody reads. For each kind of reader, alternately on one server.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { toolBatchMax } from '../src/domain/limits.js';
import { dayMs } from '../src/domain/time/duration.js';
import { type Access, accessTo } from './support/access.js';
import { type Event, makeEvents, YEAR } from './support/events.js';
import { readCpuSeconds } from './support/processor.js';
import type { Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { programArguments, type Workspace } from './support/workspace.js';

export interface BesideOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly lines: number;
  /** Connections that read. */
  readonly readers: number;
  /** Only the kinds of readers whose names have this in them. */
  readonly only?: string;
  readonly note: (line: string) => void;
}

/** A request of a reader. */
export interface Reading {
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const senders = 16;
const callers = 5_000;
const aimShare = 0.5;
const quietLookMs = 300;
const quietLooksMax = 200;
const quietSeconds = 0.05;

/** What the programs that send requests print. */
interface Results {
  readonly accepted?: number;
  readonly answered?: number;
  readonly otherwise: number;
  readonly seconds?: number;
}

interface Sample {
  readonly perSecond: number;
  readonly readsPerSecond: number;
}

export async function benchBeside(
  workspace: Workspace,
  { rounds, seconds, lines, readers, only = '', note }: BesideOptions,
): Promise<Report> {
  const database = await Database.create(workspace, 'beside');
  await database.importEvents(eventsOfMany(lines), lines);
  const server = await database.serve('--log-level', 'error');
  const access = await accessTo(database, server.url);
  const kinds = (await readingsOf(access)).filter(([name]) => name.includes(only));
  const run = async (program: string, ...args: string[]) =>
    JSON.parse(
      (await workspace.run(process.execPath, [...programArguments(program), server.url, ...args])).stdout,
    ) as Results;
  const sample = async (reading: Reading | undefined, time: number): Promise<Sample> => {
    const [recorded, read] = await Promise.all([
      run('recording-load', access.key, `${senders}`, `${time}`),
      reading && run('reading-load', JSON.stringify(reading), `${readers}`, `${time}`),
    ]);
    const { accepted = 0, otherwise = 0, seconds: took = 1 } = recorded;
    if (otherwise > 0 || (read?.otherwise ?? 0) > 0)
      throw new Error(`${otherwise} recordings and ${read?.otherwise} of ${reading?.path} failed`);
    return { perSecond: accepted / took, readsPerSecond: (read?.answered ?? 0) / time };
  };
  const samples = new Map<string, { readonly alone: Sample; readonly beside: Sample }[]>();
  await sample(undefined, 1);
  for (let round = 1; round <= rounds; round++)
    for (const [name, reading] of kinds) {
      const alone = await sample(undefined, seconds);
      const beside = await sample(reading, seconds);
      await untilQuiet(server.pid);
      samples.set(name, [...(samples.get(name) ?? []), { alone, beside }]);
      note(
        `beside: round ${round}, ${name}: ${(beside.perSecond / alone.perSecond).toFixed(2)} of ${Math.round(alone.perSecond)}/s, ` +
          `${beside.readsPerSecond.toFixed(1)} reads/s`,
      );
    }
  await database.verify();
  return toReport(samples, readers);
}

/** Reads that nobody waits for any more, and corrections that are accepted, go on for a while. */
async function untilQuiet(pid: number): Promise<void> {
  const look = () => readCpuSeconds(pid) ?? 0;
  for (let looks = 0, before = look() - 1; looks < quietLooksMax; looks++) {
    await delay(quietLookMs);
    const now = look();
    if (now - before < quietSeconds) return;
    before = now;
  }
}

function* eventsOfMany(lines: number): Generator<Event> {
  let at = 0;
  for (const event of makeEvents(lines, 1))
    yield at++ % 3 === 0 ? { ...event, caller: `caller-${at % callers}` } : event;
}

async function readingsOf({ url, key, cookie, organization }: Access): Promise<[string, Reading][]> {
  const json = { 'content-type': 'application/json' };
  const withKey = { authorization: `Bearer ${key}` };
  const session = { cookie, origin: url };
  const base = `/v1/analytics/${projectId}/assistant`;
  const pages = `/api/organizations/${organization}/projects/${projectId}`;
  /** Each kind has its own link, because requests with a link are limited. */
  const newLink = async (name: string): Promise<string> => {
    const link = await fetch(`${url}${pages}/share-links`, {
      method: 'POST',
      headers: { ...json, ...session },
      body: JSON.stringify({ name }),
    });
    return ((await link.json()) as { readonly token: string }).token;
  };
  const day = (at: number) => new Date(YEAR.from + at * dayMs).toISOString().slice(0, 10);
  const year = `dateFrom=${day(0)}&dateTo=${day(365)}`;
  const hours = `interval=hour&dateFrom=${day(0)}&dateTo=${day(412)}`;
  const gzip = { 'accept-encoding': 'gzip' };
  const call = (id: number) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name: 'get_callers', arguments: { projectId, dateFrom: day(id), dateTo: day(365) } },
  });
  const correct = (fields: object): Reading => ({
    method: 'POST',
    path: `${base}/corrections`,
    headers: { ...withKey, ...json },
    body: JSON.stringify({ id: '[<id>]', reason: 'A measurement.', ...fields }),
  });
  const get = (path: string, headers: Readonly<Record<string, string>> = withKey): Reading => ({
    path,
    headers,
  });
  return [
    ['counts', get(`${base}/caller-stats?dateFrom=${day(1)}T00:00:00.001Z&dateTo=${day(300)}`)],
    ['series', get(`${base}/caller-stats/series?${hours}`)],
    ['series by caller', get(`${base}/caller-stats/series?by=caller&interval=day&${year}`)],
    ['callers', get(`${base}/callers?${year}`, { ...withKey, ...gzip })],
    ['changes', get(`${base}/changes?${year}&since=2026-01-01`)],
    ['export', get(`${base}/queries`)],
    ['correction, dry run', correct({ action: 'withdraw', caller: 'caller-1', dryRun: true })],
    ['correction', correct({ action: 'rename', caller: 'web', to: 'docs' })],
    [
      'batch of tool calls',
      {
        method: 'POST',
        path: '/mcp',
        headers: { ...withKey, ...json, accept: 'application/json, text/event-stream' },
        body: JSON.stringify(Array.from({ length: toolBatchMax }, (_, at) => call(at))),
      },
    ],
    ['CSV of a share link', get(`/share/${await newLink('csv')}.csv?${hours}`, gzip)],
    ['page of a share link', get(`/api/shared/${await newLink('tiles')}/numbers?${year}`, {})],
    ['chart of a share link', get(`/api/shared/${await newLink('chart')}/series?interval=day&${year}`, {})],
    ['callers of a share link', get(`/api/shared/${await newLink('callers')}/callers?${year}`, gzip)],
    ['page', get(`${pages}/numbers?${year}`, session)],
    ['list of keys', get(`/api/organizations/${organization}/keys`, session)],
    ['page of the documentation', get('/docs/client', gzip)],
    ['page of the documentation, not compressed', get('/docs/client', {})],
    ['description of the API', get('/openapi.json', gzip)],
  ];
}

function toReport(
  samples: ReadonlyMap<string, readonly { readonly alone: Sample; readonly beside: Sample }[]>,
  readers: number,
): Report {
  return {
    name: 'beside',
    method:
      `Single queries from ${senders} connections, alone and beside ${readers} that send the same read over and over, on SQLite with ` +
      `${callers} callers. All of them wait for nothing but the answer. Their processes run on the same cores, so that the rate falls ` +
      'also by what these take.',
    ratios: [...samples].map(([name, rounds]) => ({
      what: `recorded beside others that read, over alone: ${name}`,
      values: rounds.map(({ alone, beside }) => beside.perSecond / alone.perSecond),
      atLeast: aimShare,
    })),
    absolutes: [...samples].map(([name, rounds]) => ({
      what: `reads: ${name}`,
      unit: 'requests/s',
      values: rounds.map(({ beside }) => beside.readsPerSecond),
    })),
  };
}
