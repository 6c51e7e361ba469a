import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeDestination, signInFor } from '../../../dashboard/src/navigation/destination.js';
import { initialChoice, readView, type View, writeView } from '../../../dashboard/src/navigation/view.js';
import { autoInterval, INTERVALS, intervalFor, isAllowed } from '../../../dashboard/src/time/interval.js';
import { COMPARISONS, PRESETS } from '../../../dashboard/src/time/range.js';
import { words } from '../../support/words.js';

const usual: View = {
  choice: { preset: '30d' },
  zone: 'Europe/Berlin',
  interval: null,
  compare: null,
  caller: null,
  table: false,
  hidden: [],
};

const read = (query: string): View => readView(new URLSearchParams(query), 'Europe/Berlin');

describe('the URL of an overview', () => {
  test.each([
    ...words(`
    range=31d range= from=2026-06-02&to=2026-06-01 from=2026-06-01 zone=Europe/Nowhere zone=%2B02:00
    interval=minute compare=yes compare=previous caller= caller=Slack caller=a%20b table=true hide=everything
    range=__proto__&zone=constructor&interval=toString
  `),
    '',
  ])('%j contains no valid parameter and shows the defaults', (query) => {
    expect(read(query)).toEqual(usual);
  });

  test('without a range shows the initial one, and otherwise the range it names', () => {
    const opened = (query: string) =>
      readView(new URLSearchParams(query), 'Europe/Berlin', { preset: 'all' }).choice;
    expect(opened('zone=UTC&range=31d')).toEqual({ preset: 'all' });
    expect(opened('range=30d')).toEqual({ preset: '30d' });
  });

  test.each([
    [0, 0, '30d'],
    [1, 1, '30d'],
    [1, 100, '30d'],
    [1, 101, 'all'],
    [0, 1, 'all'],
    [30_000, 3_000_000, '30d'],
  ])('with %i of %i queries in the last 30 days a project opens on %s', (recent, whole, preset) => {
    expect(initialChoice(recent, whole)).toEqual({ preset });
  });

  test('describes everything on screen', () => {
    const view = fc.record<View>({
      choice: fc.oneof(
        fc.constantFrom(...PRESETS).map((preset) => ({ preset })),
        fc.constantFrom(
          { from: '2026-06-01', to: '2026-06-30' },
          { from: '2026-06-01T09:00', to: '2026-06-01T17:30' },
        ),
      ),
      zone: fc.constantFrom('UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'),
      interval: fc.constantFrom(null, ...INTERVALS),
      compare: fc.constantFrom(null, ...COMPARISONS),
      caller: fc.constantFrom(null, 'slack', 'sdk.git', '1_a'),
      table: fc.boolean(),
      hidden: fc.subarray(['web', 'api', 'other'] as const),
    });
    fc.assert(
      fc.property(view, (one) => {
        expect(read(writeView(one))).toEqual(one);
      }),
    );
  });

  test('is readable', () => {
    expect(writeView({ ...usual, compare: 'previous', interval: 'day' })).toBe(
      'range=30d&zone=Europe/Berlin&interval=day&compare=1',
    );
    expect(writeView({ ...usual, compare: 'previous-year', caller: 'slack' })).toBe(
      'range=30d&zone=Europe/Berlin&compare=year&caller=slack',
    );
    expect(writeView({ ...usual, choice: { from: '2026-06-01T09:00', to: '2026-06-02T10:00' } })).toBe(
      'from=2026-06-01T09:00&to=2026-06-02T10:00&zone=Europe/Berlin',
    );
  });
});

describe('after signing in', () => {
  test.each([
    null,
    '',
    'members',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/sign-in',
    '/sign-in?to=/members',
    '/..//evil.example',
    '/members/../..//evil.example',
    '/.//sign-in',
  ])('%j leads to the start page', (to) => {
    expect(safeDestination(to, 'https://stats.example')).toBe('/');
  });

  test('every text leads to a page of the same origin', () => {
    const text = fc.oneof(
      fc.string(),
      fc.string().map((rest) => `/${rest}`),
      fc.array(fc.constantFrom('/', '.', '..', '\\', 'a')).map((parts) => `/${parts.join('')}`),
      fc.webUrl(),
    );
    fc.assert(
      fc.property(text, (to) => {
        const path = safeDestination(to, 'https://stats.example');
        expect(new URL(path, 'https://stats.example').origin).toBe('https://stats.example');
        expect(path).toMatch(/^\/(?!\/)/);
      }),
      { numRuns: 2000 },
    );
  });

  test('users return to the page they came from', () => {
    const there = signInFor('/projects/docs', 'range=7d&zone=Europe/Berlin');
    const to = new URLSearchParams(there.split('?')[1]).get('to');
    expect(safeDestination(to, 'https://stats.example')).toBe('/projects/docs?range=7d&zone=Europe/Berlin');
    expect(signInFor('/', '')).toBe('/sign-in');
  });
});

describe('the interval', () => {
  const days = (count: number): { from: number; to: number } => ({ from: 0, to: count * 86_400_000 });

  test.each([
    [1, 'hour'],
    [2, 'hour'],
    [7, 'day'],
    [31, 'day'],
    [90, 'day'],
    [200, 'week'],
    [366, 'month'],
    [4000, 'month'],
  ] as const)('of %i days is %s', (count, interval) => {
    expect(autoInterval(days(count))).toBe(interval);
  });

  test('of all time is a month, never an hour', () => {
    expect(autoInterval({ from: null, to: null })).toBe('month');
    expect(isAllowed('hour', { from: null, to: null })).toBe(false);
  });

  test('with too many bars is replaced by the next wider one', () => {
    expect(isAllowed('hour', days(60))).toBe(false);
    expect(intervalFor('hour', days(60))).toBe('day');
    expect(intervalFor('hour', days(20))).toBe('hour');
    expect(intervalFor('day', days(4000))).toBe('week');
  });
});
