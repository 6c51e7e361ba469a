import { describe, expect, test } from 'vitest';
import type { Key } from '../../../../dashboard/src/api/types.js';
import { isBusy, isInUse, keyExpiry, sortKeys } from '../../../../dashboard/src/pages/keys/key-order.js';
import { findKeys } from '../../../../dashboard/src/pages/keys/key-search.js';
import { dayMs } from '../../../../src/domain/time/duration.js';

const nowMs = Date.parse('2026-06-01T12:00Z');
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
    [30 * dayMs, 'soon', 30],
    [30 * dayMs + 1, 'later', 31],
  ] as const)('that end in %s ms end %s', (away, kind, daysLeft) => {
    const expiresAt = away === null ? null : iso(nowMs + away);
    expect(keyExpiry({ expiresAt }, nowMs)).toEqual({ kind, daysLeft });
  });

  test('are busy if they were used within a day', () => {
    expect(isBusy({ lastUsedAt: null }, nowMs)).toBe(false);
    expect(isBusy({ lastUsedAt: iso(nowMs - dayMs) }, nowMs)).toBe(false);
    expect(isBusy({ lastUsedAt: iso(nowMs - dayMs + 1) }, nowMs)).toBe(true);
  });
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
])('keys are found by %j: %s', (search, isFound) => {
  expect(findKeys([key], search)).toHaveLength(isFound ? 1 : 0);
});
