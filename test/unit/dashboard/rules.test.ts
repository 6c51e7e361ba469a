import { describe, expect, test } from 'vitest';
import type { Key } from '../../../dashboard/src/api/types.js';
import { sortDetails } from '../../../dashboard/src/components/forms/sort-details.js';
import { filterOptions } from '../../../dashboard/src/components/overlays/picker-filter.js';
import { actionName } from '../../../dashboard/src/pages/audit/actions.js';
import { readFilter, toAuditFilter, writeFilter } from '../../../dashboard/src/pages/audit/filter.js';
import { isBusy, isInUse, keyExpiry, sortKeys } from '../../../dashboard/src/pages/keys/key-order.js';
import { findKeys } from '../../../dashboard/src/pages/keys/key-search.js';
import { SHORTCUTS, step } from '../../../dashboard/src/preferences/shortcuts.js';
import { isSampleProject, SAMPLE_PROJECTS } from '../../../src/domain/projects/samples.js';

describe('sample data', () => {
  test.each(Object.values(SAMPLE_PROJECTS))('is in the project %o', (project) => {
    expect(isSampleProject(project)).toBe(true);
  });

  test.each([
    { id: 'demo', name: 'Demo' },
    { id: 'assistant-demo', name: 'Assistant demo' },
    { id: 'sample-events', name: 'Sample events' },
  ])('is not in %o, which users created', (project) => {
    expect(isSampleProject(project)).toBe(false);
  });
});

const nowMs = Date.parse('2026-06-01T12:00Z');
const dayMs = 86_400_000;
const iso = (ms: number): string => new Date(ms).toISOString();

const key: Key = {
  id: 'k1',
  name: 'Assistant',
  type: 'recording',
  project: 'docs',
  start: 'cs_recording_aB3d',
  end: 'x9Qz',
  scopes: [],
  allow: [],
  status: 'active',
  createdBy: 'ada@example.org',
  createdAt: iso(nowMs),
  expiresAt: null,
  lastUsedAt: null,
  disabledAt: null,
  revokedAt: null,
  successor: null,
};

test('audit actions show their name, and unknown ones their identifier', () => {
  expect(actionName('key.revoke')).toBe('Key revoked');
  expect(actionName('moon.land')).toBe('moon.land');
  expect(actionName('toString')).toBe('toString');
});

describe('the details of an error', () => {
  test('are assigned to the field they name, if the form has it', () => {
    const { problems, rest } = sortDetails(
      [
        'name: must not be empty',
        'allow[1]: is no network',
        'The key is gone.',
        'other: is unknown',
        'name: is odd.',
      ],
      ['name', 'allow'],
    );
    expect(Object.fromEntries(problems)).toEqual({
      name: 'Must not be empty. Is odd.',
      allow: 'Is no network.',
    });
    expect(rest).toEqual(['The key is gone.', 'other: is unknown']);
  });
});

describe('keys', () => {
  test('are in use unless revoked or expired', () => {
    const used = (['active', 'disabled', 'expired', 'revoked'] as const).filter((status) =>
      isInUse({ ...key, status }),
    );
    expect(used).toEqual(['active', 'disabled']);
  });

  test('are sorted newest first', () => {
    const keys = [1, 3, 2].map((days) => ({ ...key, id: `k${days}`, createdAt: iso(nowMs + days * dayMs) }));
    expect(sortKeys(keys).map(({ id }) => id)).toEqual(['k3', 'k2', 'k1']);
  });

  test.each([
    [null, 'none', 0],
    [-1, 'past', 0],
    [0, 'past', 0],
    [1, 'soon', 1],
    [5 * dayMs - 1, 'soon', 5],
    [7 * dayMs, 'soon', 7],
    [7 * dayMs + 1, 'later', 8],
  ] as const)('that end in %s ms end %s', (away, kind, daysLeft) => {
    const expiresAt = away === null ? null : iso(nowMs + away);
    expect(keyExpiry({ expiresAt }, nowMs)).toEqual({ kind, daysLeft });
  });

  test('are busy if they were used within a day', () => {
    expect(isBusy({ lastUsedAt: null }, nowMs)).toBe(false);
    expect(isBusy({ lastUsedAt: iso(nowMs - dayMs) }, nowMs)).toBe(false);
    expect(isBusy({ lastUsedAt: iso(nowMs - dayMs + 1) }, nowMs)).toBe(true);
  });

  test.each([
    ['', true],
    ['ASSIST', true],
    ['ada@', true],
    ['x9qz', true],
    ['cs_recording_aB3dmiddlex9Qz', true],
    ['cs_recording_aB3dmiddleother', false],
    ['cs_admin_otherx9Qz', false],
    ['nobody', false],
  ])('are found by %j: %s', (search, isFound) => {
    expect(findKeys([key], search)).toHaveLength(isFound ? 1 : 0);
  });
});

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

describe('the filter of the audit log', () => {
  test('ignores days that do not exist', () => {
    expect(readFilter(new URLSearchParams('from=2026-02-30&to=soon')).from).toBe('');
  });

  test('can be written to the URL and read back', () => {
    const filter = { action: 'key.create', actor: 'a&b', target: '', from: '2026-06-01', to: '' };
    expect(readFilter(new URLSearchParams(writeFilter(filter)))).toEqual(filter);
  });

  test('converts local days into instants, including the last day', () => {
    const filter = { action: '', actor: 'ada', target: '', from: '2026-03-29', to: '2026-03-29' };
    expect(toAuditFilter(filter, 'Europe/Berlin')).toEqual({
      actor: 'ada',
      from: '2026-03-28T23:00:00.000Z',
      to: '2026-03-29T22:00:00.000Z',
    });
  });
});

describe('a shortcut', () => {
  const type = (...keys: [key: string, at: number][]) =>
    keys.reduce<ReturnType<typeof step>>(({ pending }, [name, at]) => step(pending, { key: name, at }), {
      shortcut: null,
      pending: null,
    }).shortcut;

  test('is not matched by an unknown key or the first of two keys', () => {
    expect(type(['x', 0])).toBeNull();
    expect(type(['g', 0])).toBeNull();
    expect(type(['g', 0], ['x', 1])).toBeNull();
  });

  test('of two keys requires them in quick succession', () => {
    expect(type(['g', 0], ['k', 1_000])).toBe('keys');
    expect(type(['g', 0], ['k', 2_000])).toBeNull();
    expect(type(['g', 0], ['g', 100], ['o', 200])).toBe('overview');
  });

  test('matches every key sequence in the list, and all are unique', () => {
    for (const { keys, name } of SHORTCUTS) {
      expect(type(...keys.split(' ').map((one, at): [string, number] => [one, at]))).toBe(name);
    }
    expect(new Set(SHORTCUTS.map(({ keys }) => keys)).size).toBe(SHORTCUTS.length);
  });
});
