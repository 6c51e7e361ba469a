import { collectProblems, failure, prefixProblems, type Result, success } from '../result.js';
import { parseBound } from '../time/date-time.js';
import { fromLocal, type TimeZone, UTC } from '../time/time-zone.js';
import { type DateRange, EARLIEST_MS, LATEST_MS } from './date-range.js';

/** The names of the two bounds, for messages: parameters of a URL, or options of a command. */
export type BoundNames = Readonly<Record<'from' | 'to', string>>;

/** The names in the HTTP API. */
export const PARAMETER_NAMES: BoundNames = { from: 'dateFrom', to: 'dateTo' };

/**
 * Parses two optional bounds. Dates, and date-times without an offset, are in `zone`. Reports the problems of both, each
 * beginning with the bound's name.
 */
export function parseDateRange(
  bounds: { readonly [Name in keyof BoundNames]?: string | undefined },
  names: BoundNames = PARAMETER_NAMES,
  zone: TimeZone = UTC,
): Result<DateRange> {
  const parse = (name: string, text: string | undefined, unbounded: number): Result<number> =>
    text === undefined
      ? success(unbounded)
      : prefixProblems(
          name,
          parseBound(text, (localMs) => fromLocal(localMs, zone)),
        );
  const from = parse(names.from, bounds.from, EARLIEST_MS);
  const to = parse(names.to, bounds.to, LATEST_MS);
  if (!(from.ok && to.ok)) return failure(...collectProblems(from, to));
  if (from.value > to.value) {
    return failure(
      `${names.from}: is later than ${names.to}; a range goes from the earlier time to the later`,
    );
  }
  return success({ from: from.value, to: to.value });
}
