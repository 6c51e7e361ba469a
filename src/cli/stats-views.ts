/** The ways in which `caller-stats stats` shows counts. */
import type { Writable } from 'node:stream';
import type { CallerCounts, Counts } from '../domain/counts.js';
import { callersToCsv, countsToCsv, seriesToCsv } from '../domain/csv.js';
import type { DateRange } from '../domain/date-range.js';
import type { Series, SeriesQuestion } from '../domain/series.js';
import { readSeries } from '../storage/series.js';
import type { Store } from '../storage/store.js';
import { formatCount, printLine, printTable } from './output.js';

export interface View<Question, Answer> {
  /** What a server calls it, below the project's assistant. */
  readonly operation: string;
  readonly read: (store: Store, projectId: string, question: Question) => Promise<Answer>;
  readonly toCsv: (answer: Answer) => string;
  /** For people. */
  readonly print: (answer: Answer, to: Writable) => void;
}

const types = ['web', 'api', 'other', 'total'] as const;

export const WHOLE: View<DateRange, Counts> = {
  operation: 'caller-stats',
  read: (store, projectId, range) => store.count(projectId, range),
  toCsv: countsToCsv,
  print: (counts, to) => {
    const width = formatCount(counts.total).length;
    for (const name of types)
      printLine(to, `${name.padEnd(5)}  ${formatCount(counts[name]).padStart(width)}`);
  },
};

export const OVER_TIME: View<SeriesQuestion, Series> = {
  operation: 'caller-stats/series',
  read: readSeries,
  toCsv: seriesToCsv,
  print: ({ buckets }, to) => {
    printTable(
      to,
      ['START', 'END', 'WEB', 'API', 'OTHER', 'TOTAL'],
      buckets.map((bucket) => [bucket.start, bucket.end, ...types.map((name) => formatCount(bucket[name]))]),
    );
  },
};

export const BY_CALLER: View<DateRange, CallerCounts> = {
  operation: 'callers',
  read: (store, projectId, range) => store.countCallers(projectId, range),
  toCsv: callersToCsv,
  print: ({ callers }, to) => {
    printTable(
      to,
      ['CALLER', 'TYPE', 'COUNT'],
      callers.map(({ caller, type, count }) => [caller, type, formatCount(count)]),
    );
  },
};
