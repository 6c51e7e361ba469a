/**
 * The format, scopes and status of an API key.
 *
 * `<vendor>_<type>_<43 random base62 characters><6 base62 characters of CRC-32>`: secret scanners find a leaked key by its
 * prefix, the random characters are worth 256 bits, and the checksum exposes a mistyped key without asking the store.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BASE62, type RandomInt, randomText } from '../random-text.js';
import { failure, quote, type Result, success } from '../result.js';

export const KEY_TYPES = ['admin', 'recording', 'reading'] as const;

/**
 * `admin` reads and records all projects of its organization; `recording` may only record, into one project; `reading` may
 * only read one project.
 */
export type KeyType = (typeof KEY_TYPES)[number];

export const SCOPES = ['read', 'write'] as const;

/** What an admin key may do: `read` allows GET and HEAD; `write` allows everything, reading included. */
export type Scope = (typeof SCOPES)[number];

/** Parses the scopes of an admin key: `read`, `write` or `read,write`. */
export function parseScopes(text: string): Result<readonly Scope[]> {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !SCOPES.some((scope) => scope === name));
  const problems = unknown.map(
    (name) => `${quote(name)} is not a scope; the scopes are ${SCOPES.join(' and ')}`,
  );
  if (problems.length > 0) return failure(...problems);
  return success(names.includes('write') ? SCOPES : ['read']);
}

/** The scopes of a key whose request names none. Those of keys that are bound to a project are fixed. */
export function defaultScopes(type: KeyType): readonly Scope[] {
  return { admin: SCOPES, recording: ['write'] as const, reading: ['read'] as const }[type];
}

/** A key as stored, without its secret. */
export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  /** The one project of a recording or reading key; null for an admin key. */
  readonly projectId: string | null;
  readonly type: KeyType;
  readonly name: string;
  /** SHA-256 of the whole key, 64 hexadecimal digits. */
  readonly hash: string;
  /** Vendor, type and the first four random characters, to tell keys apart in a list. */
  readonly start: string;
  /** The last four characters, part of the checksum. */
  readonly end: string;
  /** The name of the actor. */
  readonly createdBy: string;
  /** Milliseconds since 1970, like all times below. */
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
  /** Since when the key is disabled; null if it is not. Disabling can be undone. */
  readonly disabledAt: number | null;
  /** What the key may do. Fixed when the key is created, like `allow`. */
  readonly scopes: readonly Scope[];
  /** Addresses and networks the key works from, as `parseNetwork` returns them; empty for everywhere. */
  readonly allow: readonly string[];
  /** The key that a rotation created to replace this one; null if it was not rotated. */
  readonly successorId: string | null;
}

/** A key to create. `scopes` are by default everything that the type allows; `allow` is by default every address. */
export type NewKey = Pick<ApiKey, 'organizationId' | 'projectId' | 'type' | 'name' | 'expiresAt'> &
  Partial<Pick<ApiKey, 'id' | 'scopes' | 'allow'>>;

export type KeyStatus = 'active' | 'disabled' | 'expired' | 'revoked';

/** 62^43 is just above 2^256. */
const randomCharacters = 43;
/** 62^6 is above 2^32. */
const checksumCharacters = 6;
const shownCharacters = 4;

export const VENDOR_PATTERN = '^[a-z][a-z0-9]{1,15}$';

const form = new RegExp(
  `^[a-z][a-z0-9]{1,15}_(?<type>${KEY_TYPES.join('|')})_[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`,
);

/** Generates a secret, to be shown once. */
export function generateKey(vendor: string, type: KeyType, randomInt: RandomInt): string {
  const body = `${vendor}_${type}_${randomText(randomCharacters, randomInt)}`;
  return body + checksum(body);
}

/**
 * The type of a well-formed key; undefined if format or checksum is wrong. Accepts any vendor prefix, so that keys keep
 * working after the setting changes; the checksum covers the prefix.
 */
export function parseKeyType(key: string): KeyType | undefined {
  const type = form.exec(key)?.groups?.['type'];
  if (type === undefined || checksum(key.slice(0, -checksumCharacters)) !== key.slice(-checksumCharacters)) {
    return undefined;
  }
  return KEY_TYPES.find((one) => one === type);
}

/**
 * The hash that is stored and looked up. A fast hash is enough: slow ones protect secrets that can be guessed, and 256
 * random bits cannot. Looking up by hash leaks no useful timing, because nobody can choose the first bytes of a hash.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The two ends of a key that lists show; see `ApiKey`. */
export function visibleEnds(key: string): { start: string; end: string } {
  const randomAt = key.length - randomCharacters - checksumCharacters;
  return { start: key.slice(0, randomAt + shownCharacters), end: key.slice(-shownCharacters) };
}

/** A key is expired from the millisecond `expiresAt` on. Final states win: revoked, then expired, then disabled. */
export function keyStatus(
  { expiresAt, revokedAt, disabledAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt' | 'disabledAt'>,
  nowMs: number,
): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && expiresAt <= nowMs) return 'expired';
  return disabledAt === null ? 'active' : 'disabled';
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < checksumCharacters; i++) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
