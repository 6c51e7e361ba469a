import { describe, expect, test } from 'vitest';
import { actionName } from '../../../../dashboard/src/pages/audit/actions.js';
import { readFilter, toAuditFilter, writeFilter } from '../../../../dashboard/src/pages/audit/filter.js';

test('audit actions show their name, and unknown ones their identifier', () => {
  expect(actionName('key.revoke')).toBe('Key revoked');
  expect(actionName('moon.land')).toBe('moon.land');
  expect(actionName('toString')).toBe('toString');
});

describe('the filter of the audit log', () => {
  test('ignores days that do not exist', () => {
    expect(readFilter(new URLSearchParams('from=2026-02-30&to=soon')).from).toBe('');
  });

  test('can be written to the URL and read back', () => {
    const filter = { action: 'key.create', actor: 'a&b', target: '', from: '2026-06-01', to: '' };
    expect(readFilter(new URLSearchParams(writeFilter(filter)))).toEqual(filter);
  });

  test('converts days of the reader into instants, including the last day', () => {
    const filter = { action: '', actor: 'ada', target: '', from: '2026-03-29', to: '2026-03-29' };
    expect(toAuditFilter(filter)).toEqual({
      actor: 'ada',
      from: new Date(2026, 2, 29).toISOString(),
      to: new Date(2026, 2, 30).toISOString(),
    });
  });
});
