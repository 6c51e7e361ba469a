import { describe, expect, test } from 'vitest';
import { filterOptions } from '../../../../dashboard/src/components/overlays/picker-filter.js';

describe('the options of a picker', () => {
  const zones = ['America/New_York', 'Europe/Berlin', 'Asia/Newcastle', 'UTC'].map((value) => ({
    value,
    label: value.replaceAll('_', ' '),
  }));
  const find = (search: string): string[] => filterOptions(zones, search).map(({ value }) => value);

  test('are complete without a search text', () => {
    expect(find('  ')).toHaveLength(4);
  });

  test('match words in any order, ignoring case and accents', () => {
    expect(find('york new')).toEqual(['America/New_York']);
    expect(find('BÉRLIN')).toEqual(['Europe/Berlin']);
    expect(find('nowhere')).toEqual([]);
  });
});
