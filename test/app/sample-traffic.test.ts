import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleTraffic } from '../../src/app/sample-traffic.js';
import { parseQuery } from '../../src/domain/queries/query.js';
import { dayMs } from '../../src/domain/time/duration.js';

const times = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2100, 0, 1) });

test('sample traffic ends now, in order, with queries that can be recorded once', () => {
  fc.assert(
    fc.property(fc.integer(), times, (seed, nowMs) => {
      const queries = [...sampleTraffic(seed, nowMs)];
      expect(new Set(queries.map(({ id }) => id)).size).toBe(queries.length);
      expect(queries.at(-1)?.occurredAt).toBe(nowMs);
      expect(queries.every(({ occurredAt }, at) => occurredAt >= (queries[at - 1]?.occurredAt ?? 0))).toBe(
        true,
      );
      for (const query of queries.slice(-50)) {
        const occurredAt = new Date(query.occurredAt).toISOString();
        expect(parseQuery({ ...query, occurredAt }, nowMs)).toEqual({ ok: true, value: query });
      }
    }),
    { numRuns: 5 },
  );
});

test('the same seed and time give the same queries, another seed others', () => {
  const nowMs = Date.UTC(2026, 5, 15, 12);
  const queries = [...sampleTraffic(1, nowMs)];
  expect([...sampleTraffic(1, nowMs)]).toEqual(queries);
  expect([...sampleTraffic(2, nowMs)]).not.toEqual(queries);
});

test('sample traffic grows, rests on weekends, and has an outage and a launch', () => {
  const nowMs = Date.UTC(2026, 5, 15, 12);
  const queries = [...sampleTraffic(1, nowMs)];
  const between = (from: number, to: number) =>
    queries.filter(({ occurredAt }) => nowMs - occurredAt < from * dayMs && nowMs - occurredAt >= to * dayMs);
  expect(between(60, 30).length).toBeGreaterThan(2 * between(430, 400).length);
  expect(between(20.4, 19.3)).toEqual([]);
  expect(between(12, 11).length).toBeGreaterThan(1.5 * between(19, 18).length);
  const perDay = (weekdays: readonly number[]) =>
    queries.filter(({ occurredAt }) => weekdays.includes(new Date(occurredAt).getUTCDay())).length /
    weekdays.length;
  expect(perDay([0, 6])).toBeLessThan(0.5 * perDay([1, 2, 3, 4, 5]));
  expect(new Set(queries.map(({ caller }) => caller))).toEqual(
    new Set('web api slack discord mcp sdk-python sdk-js vscode teams zendesk'.split(' ')),
  );
});
