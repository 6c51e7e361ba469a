import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bar, type Chart, chartLines } from '../../../src/cli/terminal/chart.js';
import { withTotal } from '../../../src/domain/counting/counts.js';
import { chartBarsMax } from '../../../src/domain/limits.js';

const bar = (label: string, web: number, api: number, other: number): Bar => ({
  label,
  counts: withTotal({ web, api, other }),
});

const chartOf = (bars: readonly Bar[], leaveOut: Chart['leaveOut'] = 'last'): Chart => ({
  bars,
  leaveOut,
  rest: (count, queries) => `${count} bars, ${queries}`,
});

const plain = { columns: 60, colors: false };

const anyBar = fc
  .tuple(
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 70, size: 'max' }),
    fc.nat(),
    fc.nat(9),
    fc.nat(),
  )
  .map(([label, web, api, other]) => bar(label, web, api, other));
const anyBars = fc.array(anyBar, { minLength: 1, maxLength: 20 });
const anyColumns = fc.integer({ min: 40, max: 300 });

const marksIn = (line: string, marks = '█▓░'): number =>
  [...line].filter((one) => marks.includes(one)).length;

describe('a chart', () => {
  test('without bars says so', () => {
    expect(chartLines(chartOf([]), plain)).toEqual(['no queries']);
  });

  test('draws no bar for 0, also where there is nothing else', () => {
    expect(chartLines(chartOf([bar('a', 0, 0, 0)]), plain)).toEqual(['█ web  ▓ api  ░ other', 'a  0']);
  });

  test.each([
    ['last', 1, chartBarsMax + 1, '3 bars, 306 queries'],
    ['first', 2, 1, '3 bars, 6 queries'],
  ] as const)('leaves out the %s bars past its limit, and says so', (leaveOut, firstBar, note, text) => {
    const bars = Array.from({ length: chartBarsMax + 3 }, (_, at) => bar(`bar ${at + 1}`, at + 1, 0, 0));
    const lines = chartLines(chartOf(bars, leaveOut), plain);
    expect(lines).toHaveLength(chartBarsMax + 2);
    expect(lines[note]).toBe(text);
    expect(lines[firstBar]).toMatch(leaveOut === 'last' ? /^bar 1 / : /^bar 4 /);
  });

  test('has no line that is longer than the terminal is wide', () => {
    fc.assert(
      fc.property(anyBars, anyColumns, (bars, columns) => {
        for (const line of chartLines(chartOf(bars), { columns, colors: false })) {
          expect(line.length).toBeLessThanOrEqual(columns);
        }
      }),
    );
  });

  test('draws the largest over all that is left of the line, none longer than a larger one, and none as nothing', () => {
    fc.assert(
      fc.property(anyBars, anyColumns, (bars, columns) => {
        const lines = chartLines(chartOf(bars), { columns, colors: false }).slice(1);
        const lengths = lines.map((line) => marksIn(line));
        expect(lengths.map((length) => length > 0)).toEqual(bars.map(({ counts }) => counts.total > 0));
        const order = bars.map((_, at) => at).sort((a, b) => totalOf(bars, a) - totalOf(bars, b));
        expect(order.map((at) => lengths[at])).toEqual([...lengths].sort((a, b) => a - b));
        const largest = order.at(-1) ?? 0;
        if (totalOf(bars, largest) > 0) expect(lines[largest]).toHaveLength(columns);
      }),
    );
  });

  test('shows each type that was counted where its bar has room for three', () => {
    fc.assert(
      fc.property(anyBars, anyColumns, (bars, columns) => {
        const lines = chartLines(chartOf(bars), { columns, colors: false }).slice(1);
        for (const [at, { counts }] of bars.entries()) {
          const line = lines[at] ?? '';
          if (marksIn(line) < 3) continue;
          expect([marksIn(line, '█') > 0, marksIn(line, '▓') > 0, marksIn(line, '░') > 0]).toEqual([
            counts.web > 0,
            counts.api > 0,
            counts.other > 0,
          ]);
        }
      }),
    );
  });

  test('is the same in colours, but for the codes', () => {
    fc.assert(
      fc.property(anyBars, anyColumns, (bars, columns) => {
        const colored = chartLines(chartOf(bars), { columns, colors: true });
        expect(colored.map(stripVTControlCharacters)).toEqual(
          chartLines(chartOf(bars), { columns, colors: false }),
        );
        expect(colored[0]).toContain('\u001b[');
      }),
    );
  });

  test('looks like this', () => {
    const bars = [bar('2026-01-01', 600, 100, 300), bar('2026-01-02', 0, 0, 0), bar('2026-01-03', 1, 1, 498)];
    expect(chartLines(chartOf(bars), { columns: 40, colors: false })).toEqual([
      '█ web  ▓ api  ░ other',
      '2026-01-01  1,000  █████████████▓▓░░░░░░',
      '2026-01-02      0',
      '2026-01-03    500  █▓░░░░░░░░░',
    ]);
  });
});

function totalOf(bars: readonly Bar[], at: number): number {
  return bars[at]?.counts.total ?? 0;
}
