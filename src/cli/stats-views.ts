/** The ways in which counts are read and shown: whole, over time, by caller. */
import type { Writable } from 'node:stream';
import type { CallerCounts, Counts } from '../domain/counting/counts.js';
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
};
