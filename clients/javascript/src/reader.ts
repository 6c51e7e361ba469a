import {
  authorizationHeader,
  operationUrl,
  request,
  type Transport,
} from '../../../src/shared/api-client.js';
import type {
  CallerStats,
  CallerStatsSeries,
  Callers,
  Comparison,
  Interval,
  Period,
  WeekStart,
} from './counts.js';
import { platform } from './platform.js';

export interface RangeRequest {
  readonly projectId: string;
  /**
   * Inclusive start: a date such as `2026-01-31` or an RFC 3339 date-time, in `timeZone` unless it has an offset, or a
   * `Date`. Default: no limit.
   */
  readonly from?: string | Date | undefined;
  /** Exclusive end, in the same formats as `from`. Default: no limit. */
  readonly to?: string | Date | undefined;
  /** Instead of `from` and `to`: a range of whole days, such as `last-month`. */
  readonly period?: Period | undefined;
  /** The time zone of dates and periods: an IANA name such as `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  /** The day on which weeks begin, in periods and series. Default: the project's own, or Monday. */
  readonly weekStart?: WeekStart | undefined;
  /** Adds `previous`: the counts of the period before, or of the range of the same length, or of the same dates one year earlier. */
  readonly compare?: Comparison | undefined;
  /** The counts as they were at the start of this UTC day, such as `2026-01-31`. Default: as they are now. */
  readonly asOf?: string | Date | undefined;
  /** Aborts the request; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallerStatsRequest extends RangeRequest {
  /** Counts only the queries of this caller, in the field of its type. */
  readonly caller?: string | undefined;
}

export interface SeriesRequest extends CallerStatsRequest {
  /** Default: `day`. */
  readonly interval?: Interval | undefined;
  /** Adds a series for each of the busiest callers, and one for the rest. */
  readonly by?: 'caller' | undefined;
}

export interface ReaderOptions {
  /** The server's URL, such as `https://stats.example.com`. */
  readonly url: string;
  /** A reading key of the project, or an admin key. Keep it on the server; never send it to a browser. */
  readonly key: string;
  /** Request timeout in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Replaces `fetch` and the clock, for tests. */
  readonly platform?: Partial<Transport>;
}

/** Reads counts. Failed requests reject with a subclass of `CallerStatsError`. */
export interface Reader {
  /** Counts by type of caller. */
  callerStats(request: CallerStatsRequest): Promise<CallerStats>;
  /** Counts by type of caller for each hour, day, week, month, quarter or year of a time zone. */
  series(request: SeriesRequest): Promise<CallerStatsSeries>;
  /** Counts by caller, highest first. */
  callers(request: RangeRequest): Promise<Callers>;
}

/** Creates a reader. Throws a `RangeError` if `url` or `key` is malformed. */
export function createReader({ url, key, timeoutMs = 30_000, platform: own }: ReaderOptions): Reader {
  operationUrl(url, '', '');
  const authorization = authorizationHeader(key);
  /** The response of an operation, whose form the server promises. */
  const get = async <Answer>(operation: string, asked: SeriesRequest): Promise<Answer> => {
    const { projectId, signal, from: dateFrom, to: dateTo, ...more } = asked;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries({ dateFrom, dateTo, ...more })) {
      if (value !== undefined) parameters.set(name, value instanceof Date ? value.toISOString() : value);
    }
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const answer: unknown = await request(
        { ...platform, ...own },
        `${operationUrl(url, projectId, operation)}?${parameters}`,
        {
          headers: { authorization, accept: 'application/json' },
          signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        },
      );
      return answer as Answer;
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
