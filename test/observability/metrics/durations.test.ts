import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BOUNDS_SECONDS, Durations } from '../../../src/observability/metrics/durations.js';
import { RequestCounts } from '../../../src/observability/metrics/request-counts.js';

const bounds = [...BOUNDS_SECONDS, Number.POSITIVE_INFINITY];

test('each bucket counts the durations up to its bound, including the bound', () => {
  const edges = BOUNDS_SECONDS.map((seconds) => seconds * 1000);
  const duration = fc.oneof(
    fc.double({ min: 0, max: 20_000, noNaN: true }),
    fc.constantFrom(...edges, ...edges.map((ms) => ms + 1e-6)),
  );
  fc.assert(
    fc.property(fc.array(duration), (all) => {
      const durations = new Durations();
      for (const ms of all) durations.observe(ms);
      const values = durations.toLines('took', { route: '/' });
      const buckets = values.filter(({ metricName }) => metricName === 'took_bucket');
      expect(buckets.map(({ labels }) => Number(String(labels['le']).replace('+Inf', 'Infinity')))).toEqual(
        bounds,
      );
      for (const [at, { value }] of buckets.entries())
        expect(value).toBe(all.filter((ms) => ms / 1000 <= (bounds[at] ?? 0)).length);
      const of = (end: string) => values.find(({ metricName }) => metricName === `took_${end}`);
      expect(of('count')).toEqual({ metricName: 'took_count', labels: { route: '/' }, value: all.length });
      expect(of('sum')?.value).toBeCloseTo(
        all.reduce((sum, ms) => sum + ms / 1000, 0),
        6,
      );
    }),
  );
});

test('requests are counted by method and route, with other as the method that no route has', () => {
  const requests = new RequestCounts();
  const patch = requests.find('PATCH', '/a');
  patch.answered(200, 1);
  requests.find('PATCH', '/a').answered(200, 1);
  for (const method of ['PURGE', 'get', 'OPTIONS', 'constructor'])
    requests.find(method, '/a').answered(405, 1);
  requests.refused(400);
  expect(requests.all().map(({ labels, counts }) => [labels, [...counts]])).toEqual([
    [{ method: 'PATCH', route: '/a' }, [[200, 2]]],
    [{ method: 'other', route: '/a' }, [[405, 4]]],
    [{ method: 'other', route: 'unmatched' }, [[400, 1]]],
  ]);
});
