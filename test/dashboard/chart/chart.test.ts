import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bucket } from '../../../dashboard/src/api/types.js';
import { chartImage } from '../../../dashboard/src/chart/image.js';
import { chartLabels } from '../../../dashboard/src/chart/labels.js';
import {
  barBand,
  chooseScale,
  indexAt,
  labelStep,
  linePath,
  plotArea,
  stackedPaths,
} from '../../../dashboard/src/chart/layout.js';
import { INTERVALS } from '../../../src/domain/calendar/names.js';
import { dayMs } from '../../../src/domain/time/duration.js';

const plot = plotArea(1000, 300, 4);
const types = ['web', 'api', 'other'] as const;
const first = { start: '2026-06-01T00:00:00.000Z', end: '2026-06-02T00:00:00.000Z' };
const counts = fc.nat({ max: 1_000_000 });
const bar = fc
  .record({ web: counts, api: counts, other: counts })
  .map((one): Bucket => ({ ...first, ...one, total: one.web + one.api + one.other }));

/** The rectangles of a path, each written as `Mx yhWvHh-Wz`. */
function boxes(path: string): { y: number; height: number }[] {
  return [...path.matchAll(/M(\S+) ([^h]+)h[^v]+v([^h]+)h[^z]+z/g)].map(([, , y, height]) => ({
    y: Number(y),
    height: Number(height),
  }));
}

describe('the scale', () => {
  test('of no values still has a grid line', () => {
    expect(chooseScale([])).toEqual({ max: 1, ticks: [0, 1] });
    expect(chooseScale([0, 0])).toEqual({ max: 1, ticks: [0, 1] });
  });

  test('includes every value, and its lines are whole numbers from 0 up', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (values) => {
        const { max, ticks } = chooseScale(values);
        expect(max).toBeGreaterThanOrEqual(Math.max(0, ...values));
        expect(ticks[0]).toBe(0);
        expect(ticks.every((tick) => Number.isInteger(tick) && tick <= max)).toBe(true);
        expect(ticks.length).toBeLessThanOrEqual(11);
      }),
    );
  });
});

describe('the bars', () => {
  test('stay inside the plot, and counts above 0 are visible', () => {
    fc.assert(
      fc.property(fc.array(bar, { minLength: 1, maxLength: 50 }), (bars) => {
        const { max } = chooseScale(bars.map(({ total }) => total));
        for (const { type, path } of stackedPaths(bars, types, max, plot)) {
          const drawn = boxes(path);
          expect(drawn.length).toBe(bars.filter((one) => one[type] > 0).length);
          for (const { y, height } of drawn) {
            expect(height).toBeGreaterThanOrEqual(1);
            expect(y).toBeGreaterThanOrEqual(plot.top - 0.01);
          }
        }
      }),
    );
  });

  test('are found by their x coordinate', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.nat(), (bars, any) => {
        const index = any % bars;
        expect(indexAt(barBand(index, bars, plot).center, bars, plot)).toBe(index);
      }),
    );
    expect(indexAt(plot.left - 1, 10, plot)).toBeNull();
    expect(indexAt(plot.left + plot.width, 10, plot)).toBeNull();
  });
});

describe('the line of the previous period', () => {
  test('is empty without data', () => {
    expect(linePath([], 5, plot)).toBe('');
    expect(linePath([null, null], 5, plot)).toBe('');
  });

  test('crosses a single bar', () => {
    expect(linePath([3], 5, plot)).toMatch(/^M\S+ \S+h\S+$/);
  });

  test('is interrupted at a bar that is compared with nothing', () => {
    expect(linePath([1, 2, null, 3, 4, null, 5], 5, plot)).toMatch(
      /^M[^MLh]+L[^MLh]+M[^MLh]+L[^MLh]+M[^MLh]+h[^MLh]+$/,
    );
  });

  test('has a point above the bar that it is compared with', () => {
    const points = linePath([1, 2, null, 3], 5, plot);
    expect(points).toContain(`${Math.round(barBand(1, 4, plot).center * 100) / 100} `);
  });
});

describe('the labels', () => {
  const emptyBars = (from: string, count: number, lengthMs: number, offset = 'Z'): Bucket[] => {
    const local = (index: number) =>
      new Date(Date.parse(from) + index * lengthMs).toISOString().replace('Z', offset);
    return Array.from({ length: count }, (_, index) => ({
      ...{ start: local(index), end: local(index + 1) },
      ...{ web: 0, api: 0, other: 0, total: 0 },
    }));
  };

  test('never overlap', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.constantFrom(...INTERVALS),
        fc.integer({ min: 200, max: 3000 }),
        (bars, interval, width) => {
          const step = labelStep(bars, interval, width, 60);
          // Even a plot narrower than one label shows one.
          if (step < bars) expect((width / bars) * step).toBeGreaterThanOrEqual(60 * 0.9);
        },
      ),
    );
  });

  test('of hours are at round local times, and name the day at midnight', () => {
    const hours = emptyBars('2026-06-02T00:00Z', 48, 3_600_000, '+02:00');
    const texts = chartLabels(hours, 'hour', 600, 'en-GB').map(({ text }) => text);
    expect(texts).toEqual(['2 Jun', '06:00', '12:00', '18:00', '3 Jun', '06:00', '12:00', '18:00']);
  });

  test('of days over several years show month and year', () => {
    const days = emptyBars('2024-01-01T00:00Z', 800, dayMs);
    expect(chartLabels(days, 'day', 800, 'en-GB')[0]?.text).toBe('Jan 2024');
  });
});

test('the downloaded picture has stripes in the legend, escapes texts, and shortens a long title', () => {
  const picture = (title: string) =>
    chartImage({
      title,
      subtitle: 'a & b',
      bars: [
        {
          ...first,
          ...{ web: 1, api: 2, other: 3, total: 6, incomplete: 'running' },
          previous: { ...first, web: 1, api: 2, other: 4, total: 7 },
        },
      ],
      isCompared: true,
      beforeName: '<before>',
      types,
      interval: 'day',
      colors: {
        surface: '#fff',
        ink: '#000',
        ink2: '#111',
        line: '#222',
        types: { web: '#00f', api: '#0f0', other: '#f00' },
      },
    });
  const drawn = picture('</text><script x="1">');
  expect(drawn).toContain('&lt;/text&gt;&lt;script x=&quot;1&quot;&gt;');
  expect(drawn).toMatch(/<rect [^>]*fill="url\(#stripes\)"\/><text x="19">Other</);
  expect(drawn).toContain('a &amp; b');
  expect(drawn).toContain('&lt;before&gt;');
  expect(drawn).not.toMatch(/<script|<before/);
  expect(picture('x'.repeat(100))).toContain(`>${'x'.repeat(79)}…<`);
});
