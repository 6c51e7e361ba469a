/** The rows of the table: one for each thing that is measured, with a cell for each size. */
import { setTimeout as delay } from 'node:timers/promises';
import { dayMs } from '../../src/domain/time/duration.js';
import { residentBytesOf } from '../../test/support/resident-memory.js';
import { YEAR } from '../support/events.js';
import { makeRanges, toQueryString } from '../support/ranges.js';
import { LiveTraffic } from '../support/recording.js';
import { type Database, projectId } from '../support/service.js';
import { median } from '../support/statistics.js';
import { type Message, type Sample, send, sendMade, type Target } from '../support/traffic.js';
import type { Workspace } from '../support/workspace.js';
import type { Scaled } from './stores.js';

type Say = (line: string) => void;
type Rows = string[][];

const rounds = 5;
const answersPerRound = 200;
const singlesPerRound = 100;
const arraysPerRound = 20;
const queriesInArray = 1000;
/** Of the year that the queries are from. */
const removedDays = 91;
const pollMs = 1000;

interface Measured {
  readonly scaled: Scaled;
  readonly traffic: LiveTraffic;
  readonly headers: Readonly<Record<string, string>>;
  readonly startsMs: number[];
  readonly answers: Sample[];
  readonly singles: Sample[];
  readonly arrays: Sample[];
  readonly memory: number[];
}

export async function measure(workspace: Workspace, all: readonly Scaled[], say: Say): Promise<Rows> {
  const imports = all.map(({ queries, importSeconds }) => {
    const rate = Math.round(queries / importSeconds).toLocaleString('en-US');
    return `${time(importSeconds)}, ${rate} a second`;
  });
  const bytes = await Promise.all(all.map(async ({ bytes, queries }) => (await bytes()) / queries));
  const measured: Measured[] = [];
  for (const scaled of all) {
    const key = await scaled.database.createAdminKey();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const lists = { startsMs: [], answers: [], singles: [], arrays: [], memory: [] };
    measured.push({ scaled, headers, traffic: new LiveTraffic(), ...lists });
  }
  for (let round = 1; round <= rounds; round++) {
    say(`starts, answers and recordings: round ${round} of ${rounds}`);
    for (const one of measured) await holdRound(workspace, one);
  }
  const rows: Rows = [
    ['import', ...imports],
    ['bytes on disk a query', ...bytes.map((value) => value.toFixed(1))],
    [
      'start until `/readyz` responds',
      ...measured.map(({ startsMs }) => `${Math.round(median(startsMs))} ms`),
    ],
    ['answer for a range in milliseconds, p50 / p99', ...measured.map(({ answers }) => latency(answers))],
    ['recording a query, p50 / p99', ...measured.map(({ singles }) => latency(singles))],
    ['recording an array of 1,000, p50 / p99', ...measured.map(({ arrays }) => latency(arrays))],
    ['resident memory afterwards', ...measured.map(({ memory }) => `${Math.round(median(memory) / 1e6)} MB`)],
  ];
  return [...rows, ...(await measureOperations(workspace, measured, say))];
}

async function holdRound(workspace: Workspace, one: Measured): Promise<void> {
  const { scaled, headers, traffic } = one;
  const startedAt = performance.now();
  const server = await scaled.database.serve();
  const { status } = await fetch(`${server.url}/readyz`);
  if (status !== 200) throw new Error(`/readyz: ${status}`);
  one.startsMs.push(performance.now() - startedAt);
  const target: Target = { servers: [server], headers };
  one.answers.push(await send(target, answering(), { amount: answersPerRound, connections: 1 }));
  const record = (amount: number, queries: number) =>
    sendMade(target, amount, 1, () => traffic.next([projectId], 'ordered', queries));
  one.singles.push(await record(singlesPerRound, 1));
  one.arrays.push(await record(arraysPerRound, queriesInArray));
  one.memory.push(residentBytesOf(server.pid) ?? Number.NaN);
  await workspace.finish(server);
}

/** Different ranges one after another, so that no answer is repeated soon. */
function answering(): () => Message {
  const paths = makeRanges('ms').map(
    (range) => `/v1/analytics/${projectId}/assistant/caller-stats?${toQueryString(range, 'ms')}`,
  );
  let next = 0;
  return () => ({ method: 'GET', path: paths[next++ % paths.length] ?? '' });
}

async function measureOperations(
  workspace: Workspace,
  measured: readonly Measured[],
  say: Say,
): Promise<Rows> {
  const rows: Rows = [
    ['`verify`'],
    ['backup'],
    ['restore'],
    ['retention of a quarter'],
    ['recording a query meanwhile, p50 / p99'],
  ];
  for (const { scaled, headers, traffic } of measured) {
    const { database, queries } = scaled;
    const total = queries + traffic.sent;
    await requireTotal(database, total);
    say(`${queries}: verify`);
    const verify = await database.verify();
    say(`${queries}: backup and restore`);
    const { backup, restore } = await scaled.backUp((restored) => requireTotal(restored, total));
    say(`${queries}: retention`);
    const retention = await retain(workspace, scaled, headers, traffic);
    await requireTotal(database, queries + traffic.sent);
    await database.verify();
    const cells = [verify, backup, restore, retention.seconds].map(time);
    for (const [at, cell] of [...cells, latency(retention.samples)].entries()) rows[at]?.push(cell);
  }
  return rows;
}

/** Sets the retention while a server runs, and records until it has removed the rows. */
async function retain(
  workspace: Workspace,
  { database, isRetained }: Scaled,
  headers: Readonly<Record<string, string>>,
  traffic: LiveTraffic,
): Promise<{ readonly seconds: number; readonly samples: Sample[] }> {
  const server = await database.serve();
  const days = Math.floor((Date.now() - YEAR.from) / dayMs) - removedDays;
  await database.command('project', 'change', projectId, '--retention-days', String(days));
  const startedAt = performance.now();
  const samples: Sample[] = [];
  do {
    const target: Target = { servers: [server], headers };
    samples.push(await sendMade(target, singlesPerRound, 1, () => traffic.next([projectId], 'ordered', 1)));
    await delay(pollMs);
  } while (!(await isRetained()));
  const seconds = (performance.now() - startedAt) / 1000;
  await workspace.finish(server);
  return { seconds, samples };
}

async function requireTotal(database: Database, expected: number): Promise<void> {
  const { total } = JSON.parse(await database.command('stats', projectId, '--json')) as { total: number };
  if (total !== expected) throw new Error(`${expected} were recorded, ${total} are counted`);
}

/** The medians of the rounds. */
function latency(samples: readonly Sample[]): string {
  const [p50, p99] = [samples.map(({ p50Ms }) => p50Ms), samples.map(({ p99Ms }) => p99Ms)];
  return `${median(p50).toFixed(1)} / ${median(p99).toFixed(1)} ms`;
}

function time(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
