/** Creating keys and invitations. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hashKey, parseKeyType } from '../../../src/domain/keys/api-key.js';
import { planRotation } from '../../../src/domain/keys/key-lifetime.js';
import {
  generateApiKey,
  type KeyIssuer,
  type KeyRequest,
  parseKeyRequest,
} from '../../../src/domain/keys/new-key.js';
import { keyNetworksMax } from '../../../src/domain/limits.js';
import {
  generateToken,
  hashToken,
  invalidInvitationError,
  newInvitation,
} from '../../../src/domain/people/invitation.js';
import { dayMs } from '../../../src/domain/time/duration.js';

const nowMs = Date.UTC(2026, 5, 15);
const issuer: KeyIssuer = {
  vendor: 'cs',
  by: { name: 'Ada', address: null, at: nowMs },
  randomInt: (max) => max - 1,
};
const request = (more: Partial<KeyRequest> = {}): KeyRequest => ({
  name: 'reporting',
  type: 'admin',
  ...more,
});
const parsed = (more: Partial<KeyRequest> = {}, lifeMsMax: number | null = null) =>
  parseKeyRequest(request(more), { nowMs, lifeMsMax });
const networks = (count: number) => Array.from({ length: count }, (_, at) => `10.0.0.${at}`);

describe('a request for a key is refused', () => {
  test.each<[Partial<KeyRequest>, RegExp]>([
    [{ name: ' ' }, /^name: is not 1 to 100 visible characters$/],
    [{ type: 'recording' }, /^project: a recording key needs one$/],
    [{ type: 'reading' }, /^project: a reading key needs one$/],
    [{ project: 'docs' }, /^project: an admin key opens all projects/],
    [{ type: 'recording', project: 'docs', scope: 'write' }, /^scope: a recording key may only record/],
    [
      { type: 'reading', project: 'docs', scope: 'read' },
      /^scope: a reading key may only read; leave it out$/,
    ],
    [{ scope: 'all' }, /^scope: "all" is not a scope; the scopes are read and write$/],
    [{ expires: 'soon' }, /^expires: "soon" is not a number of days/],
    [{ allow: ['nowhere'] }, /^allow: /],
    [{ allow: networks(keyNetworksMax + 1) }, /^allow: has more than 50/],
  ])('%j', (more, problem) => {
    expect(parsed(more)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  });

  test('with all of its problems', () => {
    const result = parsed({ name: '', project: 'docs', scope: 'x', expires: 'x', allow: ['x'] });
    expect(result).toMatchObject({
      problems: ['name', 'project', 'scope', 'expires', 'allow'].map((field) =>
        expect.stringMatching(new RegExp(`^${field}: `)),
      ),
    });
  });

  test('if the key would exceed the longest allowed life', () => {
    expect(parsed({ expires: '31d' }, 30 * dayMs)).toMatchObject({ ok: false });
  });
});

describe('a request for a key', () => {
  test('has defaults: 90 days, any network, and the scopes of its type', () => {
    expect(parsed()).toEqual({
      ok: true,
      value: { name: 'reporting', type: 'admin', projectId: null, expiresAt: nowMs + 90 * dayMs, allow: [] },
    });
  });

  test('is read with all its fields', () => {
    expect(parsed({ scope: 'read', expires: 'never', allow: networks(keyNetworksMax) })).toEqual({
      ok: true,
      value: {
        name: 'reporting',
        type: 'admin',
        projectId: null,
        expiresAt: null,
        allow: expect.objectContaining({ length: keyNetworksMax }),
        scopes: ['read'],
      },
    });
    expect(parsed({ type: 'recording', project: 'docs' })).toMatchObject({
      ok: true,
      value: { type: 'recording', projectId: 'docs' },
    });
  });
});

describe('a key', () => {
  const wanted = {
    organizationId: 'default',
    projectId: null,
    type: 'admin',
    name: 'reporting',
    expiresAt: null,
  } as const;

  test('has its own id, secret and hash, and the scopes of its type', () => {
    const { key, secret } = generateApiKey(wanted, issuer);
    expect(parseKeyType(secret)).toBe('admin');
    expect(key).toEqual({
      ...wanted,
      id: 'z'.repeat(16),
      scopes: ['read', 'write'],
      allow: [],
      start: secret.slice(0, 'cs_admin_'.length + 4),
      end: secret.slice(-4),
      hash: hashKey(secret),
      createdBy: 'Ada',
      createdAt: nowMs,
      revokedAt: null,
      disabledAt: null,
      lastUsedAt: null,
      successorId: null,
    });
    expect(generateApiKey({ ...wanted, type: 'recording', projectId: 'docs' }, issuer).key.scopes).toEqual([
      'write',
    ]);
  });

  test('that replaces another one has its settings, but its own id, secret and expiry', () => {
    const old = generateApiKey(
      { ...wanted, id: 'old', scopes: ['read'], allow: ['10.0.0.0/8'], expiresAt: nowMs + dayMs },
      { ...issuer, by: { name: 'Bob', address: null, at: nowMs - dayMs } },
    ).key;
    const plan = planRotation(old, { nowMs, graceMs: 0, lifeMsMax: null });
    if (!plan.ok) throw new Error(plan.problems.join());
    const { key, secret } = generateApiKey(plan.value.successor, issuer);
    expect(key).toEqual({
      ...old,
      id: 'z'.repeat(16),
      start: old.start,
      end: secret.slice(-4),
      hash: hashKey(secret),
      createdBy: 'Ada',
      createdAt: nowMs,
      expiresAt: nowMs + 2 * dayMs,
    });
  });
});

describe('an invitation', () => {
  test('that is invalid is reported as not found', () => {
    expect(invalidInvitationError()).toMatchObject({ name: 'CallerStatsError', code: 'not_found' });
  });

  test('has a token of 256 random bits in base62', () => {
    const asked: number[] = [];
    const token = generateToken((max) => asked.push(max) % max);
    expect(asked).toEqual(Array(43).fill(62));
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(new Set(token).size).toBe(43);
  });

  test('stores the hash of its token, and expires after a week', () => {
    const wanted = { organizationId: 'default', email: 'a@b.io', role: 'viewer', projects: [] } as const;
    const { invitation, token } = newInvitation(wanted, issuer);
    expect(token).toBe('z'.repeat(43));
    expect(invitation).toEqual({
      ...wanted,
      id: 'z'.repeat(16),
      tokenHash: hashToken(token),
      createdBy: 'Ada',
      createdAt: nowMs,
      expiresAt: nowMs + 7 * dayMs,
    });
    // Databases contain these hashes, so the function must never change.
    expect(hashToken(token)).toBe(createHash('sha256').update(token).digest('base64url'));
  });
});
