import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeDestination, signInFor } from '../../../dashboard/src/navigation/destination.js';
import { initialChoice, readView, type View, writeView } from '../../../dashboard/src/navigation/view.js';
import { COMPARISONS, INTERVALS, PERIODS } from '../../../src/domain/calendar/names.js';
import { WEEK_STARTS } from '../../../src/domain/time/calendar.js';
import { words } from '../../support/words.js';

const usual: View = {
  choice: { period: '30-days-to-date' },
  zone: 'Europe/Berlin',
  weekStart: 'monday',
  interval: null,
  compare: null,
  caller: null,
  table: false,
  week: false,
  hidden: [],
};

const read = (query: string): View => readView(new URLSearchParams(query), { timeZone: 'Europe/Berlin' });

describe('the URL of an overview', () => {
  test.each([
    ...words(`
    range=30d period=30d period= from=2026-06-02&to=2026-06-01 from=2026-06-01 zone=%2B02:00 weekStart=tuesday
    interval=minute compare=yes compare=1 compare=year caller= caller=Slack caller=a%20b table=true hide=everything
    period=__proto__&compare=constructor&interval=toString&weekStart=valueOf
  `),
    '',
  ])('%j contains no valid parameter and shows the defaults', (query) => {
    expect(read(query)).toEqual(usual);
  });

  test('without a range shows the initial one, and otherwise the range it names', () => {
    const opened = (query: string) =>
      readView(new URLSearchParams(query), { timeZone: 'Europe/Berlin' }, { period: 'all' }).choice;
    expect(opened('zone=UTC&period=31-days')).toEqual({ period: 'all' });
    expect(opened('period=last-30-days')).toEqual({ period: 'last-30-days' });
  });

  test.each([
    [0, 0, '30-days-to-date'],
    [1, 1, '30-days-to-date'],
    [1, 100, '30-days-to-date'],
    [1, 101, 'all'],
    [0, 1, 'all'],
    [30_000, 3_000_000, '30-days-to-date'],
  ])('with %i of %i queries in the 30 days to date a project opens on %s', (recent, whole, period) => {
    expect(initialChoice(recent, whole)).toEqual({ period });
  });

  test('describes everything on screen', () => {
    const view = fc.record<View>({
      choice: fc.oneof(
        fc.constantFrom(...PERIODS).map((period) => ({ period })),
        fc.constantFrom(
          { from: '2026-06-01', to: '2026-06-30' },
          { from: '2026-06-01T09:00', to: '2026-06-01T17:30' },
        ),
      ),
      weekStart: fc.constantFrom(...WEEK_STARTS),
      zone: fc.constantFrom('UTC', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'),
      interval: fc.constantFrom(null, ...INTERVALS),
      compare: fc.constantFrom(null, ...COMPARISONS),
      caller: fc.constantFrom(null, 'slack', 'sdk.git', '1_a'),
      table: fc.boolean(),
      week: fc.boolean(),
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
      'period=30-days-to-date&zone=Europe/Berlin&weekStart=monday&interval=day&compare=previous',
    );
    expect(writeView({ ...usual, compare: 'previous-year', caller: 'slack' })).toBe(
      'period=30-days-to-date&zone=Europe/Berlin&weekStart=monday&compare=previous-year&caller=slack',
    );
    expect(writeView({ ...usual, choice: { from: '2026-06-01T09:00', to: '2026-06-02T10:00' } })).toBe(
      'from=2026-06-01T09:00&to=2026-06-02T10:00&zone=Europe/Berlin&weekStart=monday',
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
    expect(safeDestination(to)).toBe('/');
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
        const path = safeDestination(to);
        expect(new URL(path, 'https://stats.example').origin).toBe('https://stats.example');
        expect(path).toMatch(/^\/(?!\/)/);
      }),
      { numRuns: 2000 },
    );
  });

  test('users return to the page they came from', () => {
    const there = signInFor('/projects/docs', 'period=last-7-days&zone=Europe/Berlin');
    const to = new URLSearchParams(there.split('?')[1]).get('to');
    expect(safeDestination(to)).toBe('/projects/docs?period=last-7-days&zone=Europe/Berlin');
    expect(signInFor('/', '')).toBe('/sign-in');
  });
});

test('weeks begin as the project says, unless the link says otherwise', () => {
  const project = { timeZone: null, weekStart: 'sunday' } as const;
  expect(readView(new URLSearchParams(), project).weekStart).toBe('sunday');
  expect(readView(new URLSearchParams('weekStart=saturday'), project).weekStart).toBe('saturday');
  expect(readView(new URLSearchParams(), { timeZone: null }).weekStart).toBe('monday');
});
