/** The row of a user's authenticator app and backup codes. */
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';
import { removePasskeys } from '../passkeys/passkey-rows.js';
import type { LibraryContext } from './library-context.js';

/** The hash function of an app's codes, as URIs of authenticator apps name it. */
export type CodeAlgorithm = 'SHA256' | 'SHA1';

/** Added to the library's schema. */
export const FACTOR_SCHEMA = {
  user: { fields: { twoFactorEnabled: { type: 'boolean', required: false, input: false } } },
  twoFactor: {
    modelName: 'user_second_factor',
    fields: {
      userId: { type: 'string', required: true, references: { model: 'user', field: 'id' } },
      secret: { type: 'string', required: true },
      backupCodes: { type: 'string', required: true },
      verified: { type: 'boolean', required: false },
      lastStep: { type: 'number', required: true },
      algorithm: { type: 'string', required: true },
    },
  },
} satisfies BetterAuthPlugin['schema'];

export interface StoredFactor {
  readonly id: string;
  /** The seed of the codes, encrypted. */
  readonly secret: string;
  /** A JSON list of hashes. */
  readonly backupCodes: string;
  /** False until the first code of the app was right: until then, no code opens anything. */
  readonly verified?: boolean | null;
  readonly algorithm: CodeAlgorithm;
}

const model = 'twoFactor';

function ofUser(userId: string) {
  return [{ field: 'userId', value: userId }];
}

export function findFactor(
  adapter: Pick<DBAdapter, 'findOne'>,
  userId: string,
): Promise<StoredFactor | null> {
  return adapter.findOne<StoredFactor>({ model, where: ofUser(userId) });
}

interface Tables {
  readonly adapter: Pick<DBAdapter, 'deleteMany'>;
  readonly internalAdapter: Pick<LibraryContext['context']['internalAdapter'], 'updateUser'>;
}

/** Turns codes off. Asking for them ends first: cut off, this must not lock the user out. */
export async function removeCodes({ adapter, internalAdapter }: Tables, userId: string): Promise<void> {
  await internalAdapter.updateUser(userId, { twoFactorEnabled: false });
  await adapter.deleteMany({ model, where: ofUser(userId) });
}

/** Turns codes off and removes all passkeys. */
export async function removeSecondFactors(tables: Tables, userId: string): Promise<void> {
  await removePasskeys(tables.adapter, userId);
  await removeCodes(tables, userId);
}
