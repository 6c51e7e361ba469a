/**
 * Made-up queries of an assistant, for `serve --demo`: a year and more that ends now, with weekends, growth, new integrations,
 * a launch and an outage. The same seed and time always give the same queries.
 */
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { Query } from '../domain/queries/query.js';
import { dayMs, hourMs } from '../domain/time/duration.js';

/** Long enough to compare the last 30 days with those of the year before. */
const days = 430;

const queriesPerDay = { first: 30, last: 170 } as const;

/** Days before now. */
const launchedDaysAgo = 12;
const outage = { from: 20.5, to: 19.2 } as const;

/** Callers with their share of the queries, and how many days ago their first query was. */
const CALLERS: readonly { readonly caller: string; readonly share: number; readonly sinceDays?: number }[] = [
  { caller: 'web', share: 52 },
  { caller: 'api', share: 11 },
  { caller: 'slack', share: 12 },
  { caller: 'discord', share: 7 },
  { caller: 'sdk-python', share: 6, sinceDays: 330 },
  { caller: 'sdk-js', share: 4, sinceDays: 330 },
  { caller: 'vscode', share: 3, sinceDays: 240 },
  { caller: 'mcp', share: 14, sinceDays: 120 },
  { caller: 'teams', share: 3, sinceDays: 60 },
  { caller: 'zendesk', share: 2, sinceDays: launchedDaysAgo },
];

/** From Sunday on, in UTC. */
const WEEKDAYS = [0.45, 1.1, 1.2, 1.2, 1.15, 1, 0.4] as const;

/** The queries up to `nowMs`, oldest first; the last one is at `nowMs`. */
export function* sampleTraffic(seed: number, nowMs: number): Generator<Query> {
  const generator = xoroshiro128plus(seed);
  const random = (): number => uniformFloat64(generator);
  let number = 0;
  const query = (occurredAt: number): Query => {
    number++;
    const caller = pickCaller(random(), (nowMs - occurredAt) / dayMs);
    return { id: `sample-${number}`, caller, occurredAt };
  };
  const firstHour = Math.floor((nowMs - days * dayMs) / hourMs) * hourMs;
  for (let hour = firstHour; hour < nowMs; hour += hourMs) {
    const times = Array.from({ length: poisson(ratePerHour(hour, nowMs), random) }, () =>
      Math.floor(hour + random() * hourMs),
    );
    for (const time of times.sort((a, b) => a - b)) {
      if (time < nowMs && !isOutage(time, nowMs)) yield query(time);
    }
  }
  yield query(nowMs);
}

function isOutage(time: number, nowMs: number): boolean {
  const daysAgo = (nowMs - time) / dayMs;
  return daysAgo <= outage.from && daysAgo > outage.to;
}

function ratePerHour(time: number, nowMs: number): number {
  const daysAgo = (nowMs - time) / dayMs;
  const { first, last } = queriesPerDay;
  const growth = last * (first / last) ** (daysAgo / days);
  const date = new Date(time);
  const weekday = WEEKDAYS[date.getUTCDay()] ?? 1;
  // Most questions come in the afternoon, fewest before the morning.
  const hour = 1 + 0.75 * Math.cos(((date.getUTCHours() - 15) / 24) * 2 * Math.PI);
  const launch = daysAgo <= launchedDaysAgo ? 1 + 1.6 * Math.exp((daysAgo - launchedDaysAgo) / 4) : 1;
  return (growth / 24) * weekday * hour * launch;
}

/** A new caller grows to its share within 60 days. */
function pickCaller(point: number, daysAgo: number): string {
  const shares = CALLERS.map(({ share, sinceDays }) =>
    sinceDays === undefined ? share : share * Math.min(1, Math.max(0, (sinceDays - daysAgo) / 60)),
  );
  let rest = point * shares.reduce((sum, share) => sum + share, 0);
  const index = shares.findIndex((share) => {
    rest -= share;
    return rest < 0;
  });
  return CALLERS[index]?.caller ?? 'web';
}

/** A random count with this mean (Knuth's method, for small means). */
function poisson(mean: number, random: () => number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count++;
  return count;
}
