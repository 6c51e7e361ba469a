import { describe, expect, test } from 'vitest';
import {
  cutBoundsPath,
  numbersPath,
  trendsPath,
  weekHoursPath,
  wholePath,
} from '../../../dashboard/src/api/paths.js';
import type { View } from '../../../dashboard/src/navigation/view.js';

const ref = { path: '/api/organizations/default/projects/docs' };
const view: View = {
  choice: { period: 'last-week' },
  zone: 'Europe/Berlin',
  weekStart: 'sunday',
  interval: null,
  compare: null,
  caller: null,
  table: false,
  week: false,
  hidden: [],
};
const asked = (path: string) => Object.fromEntries(new URL(path, 'https://stats.example').searchParams);
const named = { period: 'last-week', timeZone: 'Europe/Berlin', weekStart: 'sunday' };

describe('the overview asks by names, which the server understands', () => {
  test('of what is selected, and of nothing else', () => {
    expect(asked(numbersPath(ref, view))).toEqual(named);
    const selected: View = { ...view, interval: 'hour', compare: 'previous-year', caller: 'slack' };
    expect(asked(numbersPath(ref, { ...selected, table: true, hidden: ['web'] }))).toEqual({
      ...named,
      interval: 'hour',
      compare: 'previous-year',
      caller: 'slack',
    });
  });

  test('of all callers, for their trends, and without a comparison for imported counts', () => {
    const one: View = { ...view, compare: 'previous', caller: 'slack' };
    expect(asked(trendsPath(ref, one, 'day'))).toEqual({ ...named, interval: 'day', by: 'caller' });
    expect(asked(cutBoundsPath(ref, one, null))).toEqual(named);
    expect(asked(weekHoursPath(ref, one))).toEqual({ ...named, caller: 'slack' });
    expect(asked(cutBoundsPath(ref, one, 'day'))).toEqual({ ...named, interval: 'day' });
  });

  test('of all time without any parameter', () => {
    expect(wholePath(ref)).toBe('/api/organizations/default/projects/docs/caller-stats');
  });
});
