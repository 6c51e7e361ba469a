/** The ways in which counts are read and shown: whole, over time, by caller. */
import type { Writable } from 'node:stream';
import { type CallerCounts, type Counts, withTotal } from '../domain/counting/counts.js';
import { callersToCsv, countsToCsv, seriesToCsv } from '../domain/counting/csv.js';
import { type DateRange, parseDateRange } from '../domain/counting/date-range.js';
import {
  parseSeriesRequest,
  type Series,
  type SeriesNames,
  type SeriesRequest,
} from '../domain/counting/series.js';
import type { Result } from '../domain/result.js';
import type { Store } from '../storage/ports/store.js';
import { readSeries } from '../storage/series.js';
import type { Chart } from './terminal/chart.js';
import { formatCount, printLine, printTable } from './terminal/output.js';

/** A question in the words it was asked in. */
export type Asked = { readonly [Name in keyof SeriesNames]?: string | undefined };

export interface View<Question, Answer> {
  /** What a server calls it, below the project's assistant. */
  readonly operation: string;
  /** Every problem with what was asked, each beginning with the name that `names` has for it. */
  readonly parse: (asked: Asked, names: SeriesNames) => Result<Question>;
  readonly read: (store: Store, projectId: string, question: Question) => Promise<Answer>;
  readonly toCsv: (answer: Answer) => string;
  /** For people. */
  readonly print: (answer: Answer, to: Writable) => void;
  readonly toChart: (answer: Answer) => Chart;
}

const types = ['web', 'api', 'other', 'total'] as const;

export const WHOLE: View<DateRange, Counts> = {
  operation: 'caller-stats',
  parse: parseDateRange,
  read: (store, projectId, range) => store.count(projectId, range),
  toCsv: countsToCsv,
  print: (counts, to) => {
    const width = formatCount(counts.total).length;
    for (const name of types)
      printLine(to, `${name.padEnd(5)}  ${formatCount(counts[name]).padStart(width)}`);
  },
  toChart: (counts) => ({
    bars: (['web', 'api', 'other'] as const).map((type) => ({
      label: type,
      counts: ofType(type, counts[type]),
    })),
    leaveOut: 'last',
    rest: () => '',
  }),
};

export const OVER_TIME: View<SeriesRequest, Series> = {
  operation: 'caller-stats/series',
  parse: parseSeriesRequest,
  read: readSeries,
  toCsv: seriesToCsv,
  print: ({ buckets }, to) => {
    printTable(
      to,
      ['START', 'END', 'WEB', 'API', 'OTHER', 'TOTAL'],
      buckets.map((bucket) => [bucket.start, bucket.end, ...types.map((name) => formatCount(bucket[name]))]),
      ['WEB', 'API', 'OTHER', 'TOTAL'],
    );
  },
  toChart: ({ interval, buckets }) => ({
    bars: buckets.map((bucket) => ({
      // An hour that a clock shows twice is two bars: the offset tells them apart.
      label:
        interval === 'hour' ? bucket.start.replace(/T(..:..).*(?=[+-])/, ' $1') : bucket.start.slice(0, 10),
      counts: bucket,
    })),
    leaveOut: 'first',
    rest: (bars, queries) =>
      `${bars} earlier buckets with ${queries} are not drawn; choose a wider --interval or a smaller range`,
  }),
};

export const BY_CALLER: View<DateRange, CallerCounts> = {
  operation: 'callers',
  parse: parseDateRange,
  read: (store, projectId, range) => store.countCallers(projectId, range),
  toCsv: callersToCsv,
  print: ({ callers }, to) => {
    printTable(
      to,
      ['CALLER', 'TYPE', 'COUNT'],
      callers.map(({ caller, type, count }) => [caller, type, formatCount(count)]),
      ['COUNT'],
    );
  },
  toChart: ({ callers }) => ({
    bars: callers.map(({ caller, type, count }) => ({ label: caller, counts: ofType(type, count) })),
    leaveOut: 'last',
    rest: (bars, queries) => `${bars} more callers with ${queries} are not drawn`,
  }),
};

function ofType(type: 'web' | 'api' | 'other', count: number): Counts {
  return withTotal({ web: 0, api: 0, other: 0, [type]: count });
}
