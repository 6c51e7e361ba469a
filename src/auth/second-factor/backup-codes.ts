/**
 * Backup codes, stored like passwords: as scrypt hashes. The codes of a user have one salt, so that checking a code takes one
 * hash. The library looks for the given code in a list, so it gets the hash of the code instead.
 */
import type { DBAdapter } from 'better-auth';
import { createSalt, saltOf } from '../passwords/password-hash.js';
import type { PasswordHasher } from '../passwords/password-hasher.js';
import type { LibraryContext } from './library-context.js';
import { decryptStored, type FactorKey, type StoredFactor } from './stored-factor.js';

export type CodeHasher = Pick<PasswordHasher, 'hashWithSalt'>;

type StoredCodes = Pick<StoredFactor, 'id' | 'backupCodes'>;

interface Conversion {
  readonly adapter: Pick<DBAdapter, 'findOne' | 'updateMany'>;
  readonly key: FactorKey;
  readonly hasher: CodeHasher;
}

/** For the library, which calls this with new codes, and with the hashes that remain after a code was used. */
export function backupCodeStorage(hasher: CodeHasher) {
  return {
    encrypt: (json: string) => toHashes(json, hasher),
    decrypt: async (stored: string) => stored,
  };
}

/** What the library has to look for among the stored codes. */
export async function hashBackupCode(
  { context }: LibraryContext,
  factor: StoredCodes,
  { code, hasher }: { readonly code: string; readonly hasher: CodeHasher },
): Promise<string> {
  const { adapter, secretConfig: key } = context;
  const stored = await hashEarlierCodes(factor, { adapter, key, hasher });
  const salt = saltOf(parseCodes(stored)[0] ?? '');
  return salt === undefined ? '' : hasher.hashWithSalt(code, salt);
}

/** Replaces codes that an earlier version encrypted by their hashes. Returns what is stored then. */
export async function hashEarlierCodes(
  { id, backupCodes }: StoredCodes,
  { adapter, key, hasher }: Conversion,
): Promise<string> {
  // Encrypted codes are no JSON.
  if (backupCodes.startsWith('[')) return backupCodes;
  const hashes = await toHashes(await decryptStored(key, backupCodes), hasher);
  const ofFactor = { field: 'id', value: id };
  const replaced = await adapter.updateMany({
    model: 'twoFactor',
    where: [ofFactor, { field: 'backupCodes', value: backupCodes }],
    update: { backupCodes: hashes },
  });
  if (replaced > 0) return hashes;
  // Another request was first, with another salt.
  const now = await adapter.findOne<StoredCodes>({ model: 'twoFactor', where: [ofFactor] });
  return now?.backupCodes ?? '[]';
}

async function toHashes(json: string, hasher: CodeHasher): Promise<string> {
  const codes = parseCodes(json);
  if (codes.every((code) => saltOf(code) !== undefined)) return json;
  const salt = createSalt();
  const hashes: string[] = [];
  // One after the other, so that sign-ins need not wait for all of them.
  for (const code of codes) hashes.push(await hasher.hashWithSalt(code, salt));
  return JSON.stringify(hashes);
}

function parseCodes(json: string): readonly string[] {
  return JSON.parse(json) as string[];
}
