import type { paths } from './api.js';
import { type Platform, platform } from './platform.js';
import { addressOf, authorizationOf, request } from './request.js';

type Path = '/v1/analytics/{projectId}/assistant/caller-stats';

type Answer<P extends keyof paths> = paths[P]['get']['responses'][200]['content']['application/json'];

/** Counts by type of caller. */
export type CallerStats = Answer<Path>;
/** Counts over time. */
export type CallerStatsSeries = Answer<`${Path}/series`>;
/** Counts by caller. */
export type Callers = Answer<'/v1/analytics/{projectId}/assistant/callers'>;

/** What is asked for. */
export interface RangeRequest {
  readonly projectId: string;
  /** Counts from here on, included: a date as `2026-01-31` (in UTC), an RFC 3339 date-time, or a `Date`. All, unless given. */
  readonly from?: string | Date | undefined;
  /** Counts what lies before it; the same forms as `from`. */
  readonly to?: string | Date | undefined;
  /** Gives the request up; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface SeriesRequest extends RangeRequest {
  /** `day` unless given. */
  readonly interval?: CallerStatsSeries['interval'] | undefined;
  /** A name of the IANA database as `Europe/Berlin`; `UTC` unless given. */
  readonly timeZone?: string | undefined;
}

export interface ReaderOptions {
  /** The server's address: `https://stats.example.com`. */
  readonly url: string;
  /** An admin key that may read: a server-side secret, which must never reach a browser. */
  readonly key: string;
  /** For an answer to arrive, in milliseconds; 30,000 unless given. */
  readonly timeoutMs?: number;
  /** What to send requests with, and a clock; the platform's unless given. */
  readonly platform?: Partial<Pick<Platform, 'fetch' | 'now'>>;
}

/** Reads counts. Every method rejects with a `CallerStatsError`, whose class says what happened. */
export interface Reader {
  /** How many queries a project got, by type of caller. */
  callerStats(request: RangeRequest): Promise<CallerStats>;
  /** The same for each hour, day, week or month of a time zone's calendar. */
  series(request: SeriesRequest): Promise<CallerStatsSeries>;
  /** How many queries each caller sent, most first. */
  callers(request: RangeRequest): Promise<Callers>;
}

/** Makes a reader of a server. Throws a `RangeError` where `url` is not an address, or `key` cannot be a key. */
export function createReader({ url, key, timeoutMs = 30_000, platform: own }: ReaderOptions): Reader {
  addressOf(url, '', '');
  const authorization = authorizationOf(key);
  const get = async (operation: string, asked: SeriesRequest): Promise<never> => {
    const { projectId, from, to, interval, timeZone, signal } = asked;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ dateFrom: from, dateTo: to, interval, timeZone })) {
      if (value !== undefined) parameters.set(name, value instanceof Date ? value.toISOString() : value);
    }
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      return (await request(
        { ...platform, ...own },
        `${addressOf(url, projectId, operation)}?${parameters}`,
        {
          headers: { authorization, accept: 'application/json' },
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        },
      )) as never;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  };
  return {
    callerStats: (asked) => get('caller-stats', asked),
    series: (asked) => get('caller-stats/series', asked),
    callers: (asked) => get('callers', asked),
  };
}
