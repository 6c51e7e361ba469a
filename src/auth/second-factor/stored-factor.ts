/** The row of a user's authenticator app and backup codes. */
import type { DBAdapter } from 'better-auth';
import { symmetricDecrypt } from 'better-auth/crypto';
import { CallerStatsError } from '../../domain/errors.js';
import type { LibraryContext } from './library-context.js';

/** The keys that encrypt second factors. */
export type FactorKey = LibraryContext['context']['secretConfig'];

/** The hash function of an app's codes, as URIs of authenticator apps name it. */
export type CodeAlgorithm = 'SHA256' | 'SHA1';

export interface StoredFactor {
  readonly id: string;
  /** The seed of the codes, encrypted. */
  readonly secret: string;
  /** A JSON list of hashes; of an earlier version, encrypted codes. */
  readonly backupCodes: string;
  /** False until the first code of the app was right. */
  readonly verified?: boolean | null;
  readonly algorithm: CodeAlgorithm;
}

export function findFactor(
  adapter: Pick<DBAdapter, 'findOne'>,
  userId: string,
): Promise<StoredFactor | null> {
  return adapter.findOne<StoredFactor>({ model: 'twoFactor', where: [{ field: 'userId', value: userId }] });
}

/** Throws `invalid` if this server does not have the secret any more. */
export function decryptStored(key: FactorKey, data: string): Promise<string> {
  return symmetricDecrypt({ key, data }).catch((cause) => {
    const message =
      'Two-factor authentication was set up with a secret that this server does not have any more. ' +
      'Ask an administrator to turn it off with: caller-stats member reset --second-factor';
    throw new CallerStatsError('invalid', message, { cause });
  });
}
