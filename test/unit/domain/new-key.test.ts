/** What makes keys and invitations, without a store. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hashKey, parseKeyType } from '../../../src/domain/keys/api-key.js';
import {
  generateApiKey,
  generateSuccessor,
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

const nowMs = Date.UTC(2026, 5, 15);
const dayMs = 86_400_000;
const maker: KeyIssuer = {
  vendor: 'cs',
  by: { name: 'Ada', address: null, at: nowMs },
  randomInt: (max) => max - 1,
};
const wish = (more: Partial<KeyRequest> = {}): KeyRequest => ({ name: 'reporting', type: 'admin', ...more });
const parsed = (more: Partial<KeyRequest> = {}, lifeMsMax: number | null = null) =>
  parseKeyRequest(wish(more), { nowMs, lifeMsMax });
const networks = (count: number) => Array.from({ length: count }, (_, at) => `10.0.0.${at}`);

describe('a wish for a key is refused', () => {
  test.each<[Partial<KeyRequest>, RegExp]>([
    [{ name: ' ' }, /^name: is not 1 to 100 visible characters$/],
    [{ type: 'recording' }, /^project: a recording key needs one$/],
    [{ project: 'docs' }, /^project: an admin key opens all projects/],
    [{ type: 'recording', project: 'docs', scope: 'write' }, /^scope: a recording key may only record/],
    [{ scope: 'all' }, /^scope: "all" is not a scope; the scopes are read and write$/],
    [{ expires: 'soon' }, /^expires: "soon" is not a number of days/],
    [{ allow: ['nowhere'] }, /^allow: /],
    [{ allow: networks(keyNetworksMax + 1) }, /^allow: has more than 50/],
  ])('%j', (more, problem) => {
    expect(parsed(more)).toEqual({ ok: false, problems: [expect.stringMatching(problem)] });
  });

  test('with everything that is wrong with it', () => {
    const result = parsed({ name: '', project: 'docs', scope: 'x', expires: 'x', allow: ['x'] });
    expect(result).toMatchObject({
      problems: ['name', 'project', 'scope', 'expires', 'allow'].map((field) =>
        expect.stringMatching(new RegExp(`^${field}: `)),
      ),
    });
  });

  test('where it would live longer than keys may', () => {
    expect(parsed({ expires: '31d' }, 30 * dayMs)).toMatchObject({ ok: false });
  });
});

describe('a wish for a key', () => {
  test('that says nothing more is for an admin key of 90 days, from anywhere, that leaves its scopes open', () => {
    expect(parsed()).toEqual({
      ok: true,
      value: { name: 'reporting', type: 'admin', projectId: null, expiresAt: nowMs + 90 * dayMs, allow: [] },
    });
  });

  test('that says all is read', () => {
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

  test('is new in everything that is its own, and may what its type may', () => {
    const { key, secret } = generateApiKey(wanted, maker);
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
    expect(generateApiKey({ ...wanted, type: 'recording', projectId: 'docs' }, maker).key.scopes).toEqual([
      'write',
    ]);
  });

  test('that is a successor is like the old one in all but its life', () => {
    const old = generateApiKey(
      { ...wanted, id: 'old', scopes: ['read'], allow: ['10.0.0.0/8'], expiresAt: nowMs + dayMs },
      { ...maker, by: { name: 'Bob', address: null, at: nowMs - dayMs } },
    ).key;
    const rotation = { expiresAt: nowMs + 1, successorExpiresAt: nowMs + 2 * dayMs };
    const { key, secret } = generateSuccessor(old, rotation, maker);
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
  test('that lets nobody in says only that there is none', () => {
    expect(invalidInvitationError()).toMatchObject({ name: 'CallerStatsError', code: 'not_found' });
  });

  test('has a token of 256 random bits in base62, each character drawn', () => {
    const asked: number[] = [];
    const token = generateToken((max) => asked.push(max) % max);
    expect(asked).toEqual(Array(43).fill(62));
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(new Set(token).size).toBe(43);
  });

  test('keeps the hash of its token, and can be used for a week', () => {
    const wanted = { organizationId: 'default', email: 'a@b.io', role: 'viewer' } as const;
    const { invitation, token } = newInvitation(wanted, maker);
    expect(token).toBe('z'.repeat(43));
    expect(invitation).toEqual({
      ...wanted,
      id: 'z'.repeat(16),
      tokenHash: hashToken(token),
      createdBy: 'Ada',
      createdAt: nowMs,
      expiresAt: nowMs + 7 * dayMs,
    });
    // Hashes are in databases: what makes them can never change.
    expect(hashToken(token)).toBe(createHash('sha256').update(token).digest('base64url'));
  });
});
