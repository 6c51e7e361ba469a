/** Laws of the answers' size, with a tokenizer's worst case as the measure. */
import { describe, expect, test } from 'vitest';
import { COUNT_FIELDS, countsOfType, toBucket } from '../../src/domain/counting/counts.js';
import type { Series } from '../../src/domain/counting/series.js';
import { callersShownMax, toolTokensMax } from '../../src/domain/limits.js';
import { dayMs } from '../../src/domain/time/duration.js';
import {
  callersTable,
  countTokens,
  type Page,
  seriesTable,
  showTable,
  statsTable,
  type Table,
} from '../../src/mcp/answers.js';

const callFor = (first: number): string => `again from ${first}`;
const all: Page = { first: 1, count: undefined };

const time = (day: number): string => new Date(day * dayMs).toISOString().replace('Z', '+00:00');

function daysOf(count: number, more: Partial<Series> = {}): Series {
  const buckets = Array.from({ length: count }, (_, at) =>
    toBucket(time(at), time(at + 1), countsOfType('api', 1_000 + at)),
  );
  return { interval: 'day', timeZone: 'UTC', buckets, ...more };
}

const callersOf = (count: number): Table =>
  callersTable({
    total: count,
    callers: Array.from({ length: count }, (_, at) => ({ caller: `sdk-${at}`, type: 'other', count: 1 })),
  });

/** The rows of all answers, each asked for by the one before. */
function readAll(table: Table, count?: number): string[] {
  const read: string[] = [];
  for (let first = 1; ; ) {
    const text = showTable(table, { first, count }, callFor);
    const lines = text.split('\n');
    const at = lines.indexOf(table.columns.join());
    const rows = lines.slice(at + 1).filter((line) => !line.startsWith('Left out'));
    read.push(...rows);
    const next = /^Left out: .* call again from (\d+)$/m.exec(text)?.[1];
    if (next === undefined) return read;
    expect(Number(next)).toBe(read.length + 1);
    first = Number(next);
  }
}

describe('an answer', () => {
  const by = Array.from({ length: 20 }, (_, at) => ({
    ...{ caller: `integration.with-a-long-name-${at}`, type: 'other' as const, count: 9 },
    counts: Array.from({ length: 1_000 }, () => 123_456),
  }));
  const rest = { callers: 70, count: 3, counts: by[0]?.counts ?? [] };

  test.each<[name: string, table: Table]>([
    ['days', seriesTable(daysOf(1_000))],
    ['days by caller', seriesTable(daysOf(973, { callers: by, rest }))],
    ['callers', callersOf(50_000)],
  ])('of many %s has at most 10,000 tokens and names the call for the rest', (_name, table) => {
    const text = showTable(table, all, callFor);
    expect(countTokens(text)).toBeLessThanOrEqual(toolTokensMax);
    expect(text).toMatch(/\nLeft out: [\d,]+ rows after row \d+.* To get them, call again from \d+$/);
  });

  test.each([10, 900, 973])('leaves nothing out, together with those that it names: %i days', (count) => {
    const rows = readAll(seriesTable(daysOf(count)));
    expect(rows.map((row) => row.split(',')[0])).toEqual(
      Array.from({ length: count }, (_, at) => time(at).slice(0, 'YYYY-MM-DD'.length)),
    );
    expect(readAll(callersOf(count), 7)).toHaveLength(count);
  });

  test('has all rows that are asked for, however many', () => {
    expect(showTable(seriesTable(daysOf(1_000)), { first: 1, count: 1_000 }, callFor)).not.toMatch(
      /Left out/,
    );
    expect(showTable(callersOf(500), { first: 1, count: 500 }, callFor)).not.toMatch(/Left out/);
    expect(showTable(callersOf(500), all, callFor)).toContain(
      `\nLeft out: 400 rows after row ${callersShownMax}, 400 queries together. To get them, call again from 101`,
    );
    expect(showTable(callersOf(3), { first: 4, count: undefined }, callFor)).toMatch(
      /\nThere is no row after 3\.$/,
    );
  });

  test('of a year of days has all of them', () => {
    expect(showTable(seriesTable(daysOf(366)), all, callFor)).not.toMatch(/Left out/);
  });

  test('writes midnights as dates, other times with their offset, and no counterpart as nothing', () => {
    const counts = countsOfType('web', 3);
    const series: Series = {
      interval: 'day',
      timeZone: 'Europe/Berlin',
      previous: { ...counts, dateFrom: 'x', dateTo: 'y' },
      buckets: [
        toBucket('2026-03-28T13:30:00.000+01:00', '2026-03-29T00:00:00.000+01:00', counts, null),
        toBucket('2026-03-29T00:00:00.000+01:00', '2026-03-29T18:00:00.001+02:00', counts, {
          ...counts,
          start: '2025-03-29T00:00:00.000+01:00',
          end: '2025-03-29T18:00:00.001+01:00',
        }),
      ],
    };
    expect(showTable(seriesTable(series), all, callFor)).toBe(
      `One row for each day, 2 rows in all: from start to the start of the next row, the last one to 2026-03-29T18:00:00.001+02:00. All rows together: web 6, api 0, other 0, total 6.
All of previous: web 3, api 0, other 0, total 3.
start,web,api,other,total,previous.start,previous.web,previous.api,previous.other,previous.total
2026-03-28T13:30+01:00,3,0,0,3,,,,,
2026-03-29,3,0,0,3,2025-03-29,3,0,0,3`,
    );
    // A day may have two midnights.
    const hour = seriesTable({ ...series, interval: 'hour' });
    expect(hour.rows[1]?.[0]).toBe('2026-03-29T00:00+01:00');
  });

  test('of callers named like columns names each of its columns once', () => {
    const callers = ['start', 'total', 'previous.start', 'web'].map((caller) => ({
      ...{ caller, type: 'other' as const, count: 1, counts: [1] },
    }));
    const { columns } = seriesTable(daysOf(1, { callers, rest: { callers: 0, count: 0, counts: [0] } }));
    expect(new Set(columns).size).toBe(columns.length);
  });

  test('of totals has those that are compared', () => {
    const counts = countsOfType('web', 3);
    const { columns, rows } = statsTable({ ...counts, previous: { ...counts, dateFrom: 'x', dateTo: 'y' } });
    expect(columns.slice(0, 5)).toEqual([...COUNT_FIELDS, 'previous.web']);
    expect(rows).toEqual([[3, 0, 0, 3, 3, 0, 0, 3, 'x', 'y']]);
  });
});
