/**
 * A series of the 365 days of a year in a time zone that is not UTC, over HTTP, against one answer of caller stats for the
 * same range; and what it costs to keep a counter for each caller: importing events of which half come from named callers
 * against importing the same events from the site and the API alone.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { type Event, makeEvents, writeNdjson, YEAR } from './support/events.js';
import { load } from './support/load.js';
import { recount } from './support/ranges.js';
import type { Figure, Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import type { Server, Workspace } from './support/workspace.js';

export interface SeriesOptions {
  readonly rounds: number;
  /** Of load on each operation in each round. */
  readonly seconds: number;
  readonly lines: number;
  readonly note: (line: string) => void;
}

const timeZone = 'Europe/Berlin';
/** A year of local days, which begins an hour before that of the events. */
const hourMs = 3_600_000;
const range = { from: YEAR.from - hourMs, to: YEAR.to - hourMs };
const days = 365;

const aimToStats = 20;

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
      `A series of ${days} days in ${timeZone} over ${lines.toLocaleString('en-US')} events, one server process, 10 connections, ` +
      `against one answer of caller stats for the same range, rounds of ${options.seconds} s each in turn; and \`caller-stats ` +
      'import` of events of which half come from named callers, against the same events from web and api alone.',
    ratios: [...reading.ratios, ...recording.ratios],
    absolutes: [...reading.absolutes, ...recording.absolutes],
  };
}

/** The same, but nobody has a counter of its own. */
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
  const iso = (timeMs: number): string => new Date(timeMs).toISOString();
  const bounds = `dateFrom=${iso(range.from)}&dateTo=${iso(range.to)}`;
  const stats = `/v1/analytics/${projectId}/assistant/caller-stats`;
  const paths = {
    stats: `${stats}?${bounds}`,
    series: `${stats}/series?${bounds}&interval=day&timeZone=${timeZone}`,
  };
  await requireSameAnswers(server, paths, headers, lines);

  const cost: Record<keyof typeof paths, number[]> = { stats: [], series: [] };
  const processor: Record<keyof typeof paths, number[]> = { stats: [], series: [] };
  for (let round = 0; round <= rounds; round++) {
    note(`series: ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    const names = round % 2 === 0 ? (['stats', 'series'] as const) : (['series', 'stats'] as const);
    for (const name of names) {
      const one = await load(server, [paths[name]], headers, seconds);
      if (round === 0) continue;
      cost[name].push(1e6 / one.requestsPerSecond);
      processor[name].push(one.cpuUsPerRequest ?? Number.NaN);
    }
  }
  const over = (what: string, times: typeof cost): Figure => ({
    what: `${what} of ${days} days in ${timeZone} over one caller stats`,
    values: times.series.map((time, round) => time / (times.stats[round] ?? Number.NaN)),
    atMost: aimToStats,
  });
  return {
    ratios: [over('time', cost), over('processor time', processor)].filter(isComplete),
    absolutes: [
      { what: 'series: time', unit: 'µs/request', values: cost.series },
      { what: 'series: processor time', unit: 'µs/request', values: processor.series },
      { what: 'caller stats: time', unit: 'µs/request', values: cost.stats },
      { what: 'caller stats: processor time', unit: 'µs/request', values: processor.stats },
    ].filter(isComplete),
  };
}

/** Without /proc there is no processor time. */
function isComplete({ values }: Figure): boolean {
  return values.every(Number.isFinite);
}

/** Each day is what a plain recount gives. */
async function requireSameAnswers(
  { url }: Server,
  paths: { readonly stats: string; readonly series: string },
  headers: Readonly<Record<string, string>>,
  lines: number,
): Promise<void> {
  const answers = await Promise.all(
    [paths.stats, paths.series].map(async (path) => (await fetch(url + path, { headers })).json()),
  );
  const [whole, { buckets }] = answers as [
    object,
    { buckets: { start: string; end: string; web: number; api: number; other: number; total: number }[] },
  ];
  deepStrictEqual(buckets.length, days);
  deepStrictEqual([whole], recount(makeEvents(lines, 1), [range]));
  const ranges = buckets.map(({ start, end }) => ({ from: Date.parse(start), to: Date.parse(end) }));
  deepStrictEqual(
    buckets.map(({ web, api, other, total }) => ({ web, api, other, total })),
    recount(makeEvents(lines, 1), ranges),
  );
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
      const database = await Database.create(workspace, 'recording');
      seconds[name].push(await database.import(files[name], lines));
      rmSync(workspace.path('recording'), { recursive: true });
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
