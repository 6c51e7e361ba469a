/**
 * A series of 365 days in time zones other than UTC, compared with the totals of the same range: repeated, and right
 * after recording a query. And the cost of counters per caller: importing events of which half have named callers,
 * compared with the same events from web and API alone.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { Bucket } from '../src/domain/counting/counts.js';
import { hourMs } from '../src/domain/time/duration.js';
import { toColumns } from './support/columns.js';
import { type Event, makeEvents, writeNdjson, YEAR } from './support/events.js';
import { load } from './support/load.js';
import { recount } from './support/ranges.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import { median } from './support/statistics.js';
import type { Server, Workspace } from './support/workspace.js';

export interface SeriesOptions {
  readonly rounds: number;
  /** Seconds of load on each operation per round. */
  readonly seconds: number;
  readonly lines: number;
  readonly note: (line: string) => void;
}

const days = 365;

/** Years of local days; the first one starts with the year of the events. */
const questions = [
  { timeZone: 'Europe/Berlin', aheadMs: hourMs },
  { timeZone: 'America/New_York', aheadMs: -5 * hourMs },
  { timeZone: 'Asia/Kolkata', aheadMs: 5.5 * hourMs },
  { timeZone: 'Australia/Sydney', aheadMs: 11 * hourMs },
].map(({ timeZone, aheadMs }) => ({
  timeZone,
  range: { from: YEAR.from - aheadMs, to: YEAR.to - aheadMs },
}));

/** Requests right after recording, per operation and round. */
const timesAfterCommit = 10;

const aimToStats = 8;

const statsPath = `/v1/analytics/${projectId}/assistant/caller-stats`;

export async function benchSeries(workspace: Workspace, options: SeriesOptions): Promise<Report> {
  const { lines, note } = options;
  note(`series: writing ${lines} lines`);
  const named = workspace.path('named.ndjson');
  const unnamed = workspace.path('unnamed.ndjson');
  await writeNdjson(named, makeEvents(lines, 1));
  await writeNdjson(unnamed, withoutNames(makeEvents(lines, 1)));
  const reading = await measureReading(workspace, named, options);
  const recording = await measureRecording(workspace, { named, unnamed }, options);
  return {
    name: 'series',
    method:
      `Series of ${days} days in ${questions.length} time zones over ${lines.toLocaleString('en-US')} events from one server process, compared with caller stats of the ` +
      `same ranges: over 10 connections in alternating rounds of ${options.seconds} s each, and one at a time, ${timesAfterCommit} times per round, ` +
      'directly after a query was recorded. And `caller-stats import` of events of which half come from named callers, ' +
      'compared with the same events from web and api alone.',
    ratios: [...reading.ratios, ...recording.ratios],
    absolutes: [...reading.absolutes, ...recording.absolutes],
  };
}

/** The same without counters per caller. */
function* withoutNames(events: Iterable<Event>): Generator<Event> {
  for (const event of events) yield { ...event, caller: event.caller === 'slack' ? 'web' : 'api' };
}

type Figures = Pick<Report, 'ratios' | 'absolutes'>;

async function measureReading(
  workspace: Workspace,
  file: string,
  { rounds, seconds, lines, note }: SeriesOptions,
): Promise<Figures> {
  const database = await Database.create(workspace, 'series');
  await database.import(file, lines);
  const headers = { authorization: `Bearer ${await database.createAdminKey()}` };
  const server = await database.serve();
  const paths = seriesPaths();
  await requireSameAnswers(server, paths, headers, lines);

  const cost: Costs = { stats: [], series: [] };
  const processor: Costs = { stats: [], series: [] };
  const afterCommit: Costs = { stats: [], series: [] };
  for (let round = 0; round <= rounds; round++) {
    note(`series: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const names = round % 2 === 0 ? (['stats', 'series'] as const) : (['series', 'stats'] as const);
    for (const name of names) {
      const one = await load(server, paths[name], headers, seconds);
      const after = await timeAfterCommits(server, paths[name], headers);
      if (round === 0) continue;
      cost[name].push(1e6 / one.requestsPerSecond);
      processor[name].push(one.cpuUsPerRequest ?? Number.NaN);
      afterCommit[name].push(after);
    }
  }
  const over = (what: string, times: Costs): Omit<Figure, 'atMost'> => ({
    what: `${what} of ${days} local days over one caller stats`,
    values: times.series.map((time, round) => time / (times.stats[round] ?? Number.NaN)),
  });
  return {
    ratios: [
      { ...over('time', cost), atMost: aimToStats },
      { ...over('processor time', processor), atMost: aimToStats },
      over('time, just after a recording,', afterCommit),
    ],
    absolutes: [
      { what: 'series just after a recording: time', unit: 'µs/request', values: afterCommit.series },
      { what: 'caller stats just after a recording: time', unit: 'µs/request', values: afterCommit.stats },
      { what: 'series: time', unit: 'µs/request', values: cost.series },
      { what: 'series: processor time', unit: 'µs/request', values: processor.series },
      { what: 'caller stats: time', unit: 'µs/request', values: cost.stats },
      { what: 'caller stats: processor time', unit: 'µs/request', values: processor.stats },
    ],
  };
}

interface Paths {
  readonly stats: readonly string[];
  readonly series: readonly string[];
}

type Costs = Record<keyof Paths, number[]>;

/** The same ranges, alternating between time zones. */
function seriesPaths(): Paths {
  const iso = (timeMs: number): string => new Date(timeMs).toISOString();
  const stats = questions.map(
    ({ range }) => `${statsPath}?dateFrom=${iso(range.from)}&dateTo=${iso(range.to)}`,
  );
  return {
    stats,
    series: stats.map(
      (path, at) =>
        `${path.replace('?', '/series?')}&interval=day&timeZone=${questions[at]?.timeZone ?? 'UTC'}`,
    ),
  };
}

/** The median latency in microseconds of uncached answers: a query is recorded before each request. */
async function timeAfterCommits(
  { url }: Server,
  paths: readonly string[],
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const times: number[] = [];
  for (let time = 0; time < timesAfterCommit; time++) {
    for (const path of paths) {
      const recorded = await fetch(`${url}/v1/analytics/${projectId}/assistant/queries`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ id: randomUUID(), caller: 'web' }),
      });
      await recorded.arrayBuffer();
      const begin = performance.now();
      await (await fetch(url + path, { headers })).arrayBuffer();
      times.push((performance.now() - begin) * 1000);
    }
  }
  return median(times);
}

/** Compares each day with a recount. */
async function requireSameAnswers(
  { url }: Server,
  paths: Paths,
  headers: Readonly<Record<string, string>>,
  lines: number,
): Promise<void> {
  const fetchJson = async (path: string): Promise<unknown> => (await fetch(url + path, { headers })).json();
  const events = toColumns(makeEvents(lines, 1), lines);
  for (const [at, { range }] of questions.entries()) {
    const whole = await fetchJson(paths.stats[at] ?? '');
    const { buckets } = (await fetchJson(paths.series[at] ?? '')) as { buckets: Bucket[] };
    deepStrictEqual(buckets.length, days);
    deepStrictEqual([whole], recount(events, [range]));
    const ranges = buckets.map(({ start, end }) => ({ from: Date.parse(start), to: Date.parse(end) }));
    deepStrictEqual(
      buckets.map(({ web, api, other, total }) => ({ web, api, other, total })),
      recount(events, ranges),
    );
  }
}

async function measureRecording(
  workspace: Workspace,
  files: { readonly named: string; readonly unnamed: string },
  { rounds, lines, note }: SeriesOptions,
): Promise<Figures> {
  const seconds: Record<keyof typeof files, number[]> = { named: [], unnamed: [] };
  for (let round = 1; round <= rounds; round++) {
    note(`series: importing, round ${round} of ${rounds}`);
    const names = round % 2 === 0 ? (['named', 'unnamed'] as const) : (['unnamed', 'named'] as const);
    for (const name of names) {
      const database = await Database.create(workspace, 'series-recording');
      seconds[name].push(await database.import(files[name], lines));
      rmSync(workspace.path('series-recording'), { recursive: true });
    }
  }
  const rates = (of: readonly number[]): number[] => of.map((one) => lines / one);
  return {
    ratios: [
      {
        what: 'time of an import, half of it from named callers over none of it',
        values: seconds.named.map((one, round) => one / (seconds.unnamed[round] ?? Number.NaN)),
      },
    ],
    absolutes: [
      { what: 'import, half of it from named callers', unit: 'rows/s', values: rates(seconds.named) },
      { what: 'import, web and api alone', unit: 'rows/s', values: rates(seconds.unnamed) },
    ],
  };
}
