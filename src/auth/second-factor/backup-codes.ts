/**
 * Backup codes, stored like passwords: as scrypt hashes. The codes of a user have one salt, so that checking a code takes one
 * hash.
 */
import type { DBAdapter } from 'better-auth';
import { generateRandomString } from 'better-auth/crypto';
import { backupCodesCount } from '../../domain/limits.js';
import { createSalt, saltOf } from '../passwords/password-hash.js';
import type { PasswordHasher } from '../passwords/password-hasher.js';
import type { StoredFactor } from './stored-factor.js';

export type CodeHasher = Pick<PasswordHasher, 'hashWithSalt'>;

export function createBackupCodes(): readonly string[] {
  const random = () => generateRandomString(5, 'a-z', '0-9', 'A-Z');
  return Array.from({ length: backupCodesCount }, () => `${random()}-${random()}`);
}

/** The form in which they are stored. */
export async function hashBackupCodes(codes: readonly string[], hasher: CodeHasher): Promise<string> {
  const salt = createSalt();
  const hashes: string[] = [];
  // One after the other, so that sign-ins need not wait for all of them.
  for (const code of codes) hashes.push(await hasher.hashWithSalt(code, salt));
  return JSON.stringify(hashes);
}

/** Whether the code is right and was not used before. */
export async function redeemBackupCode(
  adapter: Pick<DBAdapter, 'updateMany'>,
  { id, backupCodes }: StoredFactor,
  { code, hasher }: { readonly code: string; readonly hasher: CodeHasher },
): Promise<boolean> {
  // An early version encrypted them: those are not JSON, and open nothing.
  const hashes = backupCodes.startsWith('[') ? (JSON.parse(backupCodes) as readonly string[]) : [];
  const salt = saltOf(hashes[0] ?? '');
  const given = salt === undefined ? '' : await hasher.hashWithSalt(code, salt);
  if (!hashes.includes(given)) return false;
  const used = await adapter.updateMany({
    model: 'twoFactor',
    // Of two uses at once, the second finds other codes.
    where: [
      { field: 'id', value: id },
      { field: 'backupCodes', value: backupCodes },
    ],
    update: { backupCodes: JSON.stringify(hashes.filter((hash) => hash !== given)) },
  });
  return used > 0;
}
