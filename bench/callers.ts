/**
 * Answers about one caller, comparisons and series by caller, compared with the plain answer about the same range, at two
 * sizes. All of them take turns in every round, and each ratio uses two figures of the same round.
 */
import { deepStrictEqual } from 'node:assert/strict';
import type { CallerCounts } from '../src/domain/counting/counts.js';
import type { Series } from '../src/domain/counting/series.js';
import { type Event, makeEvents, writeNdjson, YEAR } from './support/events.js';
import { type Load, load } from './support/load.js';
import { makeRanges, toQueryString } from './support/ranges.js';
import { asPower, type Figure, type Report } from './support/report.js';
import { Database, projectId } from './support/service.js';
import type { Server, Workspace } from './support/workspace.js';

export interface CallersOptions {
  readonly rounds: number;
  /** Seconds of load on each operation per round. */
  readonly seconds: number;
  /** Events in the larger database. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

const few = 10_000;
const callers = 20;
const aim = 2.5;
const aimByCaller = 25;

const statsPath = `/v1/analytics/${projectId}/assistant/caller-stats`;
const seriesRange = '/series?dateFrom=2025-01-01&dateTo=2026-01-01&interval=day';

/** Paths of each kind of answer, the name of the plain one that it is compared with, and the target. */
const ANSWERS = {
  plain: { paths: totals(''), over: undefined, atMost: 0 },
  'of one caller': { paths: totals('&caller=caller-3'), over: 'plain', atMost: aim },
  compared: { paths: totals('&compare=previous'), over: 'plain', atMost: aim },
  'of one caller, compared, in local time': {
    paths: totals('&caller=caller-3&compare=previous&timeZone=Europe/Berlin'),
    over: 'plain',
    atMost: undefined,
  },
  series: { paths: series(''), over: undefined, atMost: 0 },
  'series of one caller': { paths: series('&caller=caller-3'), over: 'series', atMost: aim },
  'series by caller': { paths: series('&by=caller'), over: 'series', atMost: aimByCaller },
} as const satisfies Readonly<
  Record<
    string,
    {
      readonly paths: readonly string[];
      readonly over: string | undefined;
      readonly atMost: number | undefined;
    }
  >
>;

type AnswerName = keyof typeof ANSWERS;

const NAMES = Object.keys(ANSWERS) as AnswerName[];

function totals(more: string): string[] {
  return makeRanges('day').map((range) => `${statsPath}?${toQueryString(range, 'day')}${more}`);
}

/** In zones whose days are no whole days of UTC. */
function series(more: string): string[] {
  return ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney'].map(
    (zone) => `${statsPath}${seriesRange}&timeZone=${zone}${more}`,
  );
}

export async function benchCallers(workspace: Workspace, options: CallersOptions): Promise<Report> {
  const { lines, seconds } = options;
  const loads = new Map<number, ReadonlyMap<AnswerName, readonly Load[]>>();
  for (const size of [few, lines]) loads.set(size, await measure(workspace, size, options));
  const figures = (of: (load: Load) => number, what: string): Figure[] =>
    [...loads].flatMap(([size, ofSize]) =>
      NAMES.flatMap((name): Figure[] => {
        const { over, atMost } = ANSWERS[name];
        if (over === undefined) return [];
        const plain = ofSize.get(over) ?? [];
        const values = (ofSize.get(name) ?? []).map((one, at) => of(one) / of(plain[at] ?? one));
        const target = atMost === undefined ? {} : { atMost };
        return [
          { what: `${what} of answers ${name} over ${over}, ${asPower(size)} events`, values, ...target },
        ];
      }),
    );
  return {
    name: 'callers',
    method:
      `Caller stats of 256 ranges of a year, and series of 365 days in 4 time zones, with ${callers} callers, from one server ` +
      `process, over 10 connections in alternating rounds of ${seconds} s each, while nothing is recorded.`,
    ratios: [
      ...figures(({ requestsPerSecond }) => 1 / requestsPerSecond, 'time'),
      ...figures(({ cpuUsPerRequest }) => cpuUsPerRequest ?? Number.NaN, 'processor time'),
    ],
    absolutes: [...loads].flatMap(([size, ofSize]) =>
      [...ofSize].map(([name, all]) => ({
        what: `${name}, ${asPower(size)} events: time`,
        unit: 'µs/request',
        values: all.map(({ requestsPerSecond }) => 1e6 / requestsPerSecond),
      })),
    ),
  };
}

/** The same events from as many callers. */
function* withCallers(events: Iterable<Event>): Generator<Event> {
  let at = 0;
  for (const event of events) {
    const isNamed = event.caller !== 'web' && event.caller !== 'api';
    yield isNamed ? { ...event, caller: `caller-${at++ % (callers - 2)}` } : event;
  }
}

async function measure(
  workspace: Workspace,
  size: number,
  { rounds, seconds, note }: CallersOptions,
): Promise<ReadonlyMap<AnswerName, readonly Load[]>> {
  note(`callers: recording ${size} events`);
  const file = workspace.path(`callers-${size}.ndjson`);
  await writeNdjson(file, withCallers(makeEvents(size, 1)));
  const database = await Database.create(workspace, `callers-${size}`);
  await database.import(file, size);
  const headers = { authorization: `Bearer ${await database.createAdminKey()}` };
  const server = await database.serve();
  await requireSums(server, headers);
  const loads = new Map<AnswerName, Load[]>(NAMES.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    note(`callers: ${size} events, ${round === 0 ? 'warming up' : `round ${round} of ${rounds}`}`);
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const one = await load(server, ANSWERS[name].paths, headers, seconds);
      if (round > 0) loads.get(name)?.push(one);
    }
  }
  return loads;
}

/** Compares the series of each caller with the count of that caller. */
async function requireSums({ url }: Server, headers: Readonly<Record<string, string>>): Promise<void> {
  const read = async (path: string): Promise<unknown> => (await fetch(url + path, { headers })).json();
  const { from, to } = YEAR;
  const year = `dateFrom=${new Date(from).toISOString()}&dateTo=${new Date(to).toISOString()}`;
  const byCaller = (await read(`${statsPath}${seriesRange}&by=caller`)) as Required<Series>;
  const counted = (await read(`${statsPath.replace('caller-stats', 'callers')}?${year}`)) as CallerCounts;
  deepStrictEqual(
    byCaller.callers.map(({ counts, ...one }) => one),
    counted.callers,
  );
  for (const { caller, count, counts } of byCaller.callers) {
    deepStrictEqual(
      counts.reduce((sum, one) => sum + one, 0),
      count,
    );
    const { total } = (await read(`${statsPath}?${year}&caller=${caller}`)) as { total: number };
    deepStrictEqual(total, count);
  }
}
