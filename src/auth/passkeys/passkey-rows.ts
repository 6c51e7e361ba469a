/** The rows of passkeys. The public key verifies signatures; the private key never leaves the user's device. */
import type { BetterAuthPlugin, DBAdapter } from 'better-auth';

/** Added to the library's schema. */
export const PASSKEY_SCHEMA = {
  passkey: {
    modelName: 'user_passkey',
    fields: {
      userId: { type: 'string', required: true, references: { model: 'user', field: 'id' } },
      name: { type: 'string', required: true },
      /** The host that the passkey was created for. */
      relyingPartyId: { type: 'string', required: true },
      credentialId: { type: 'string', required: true, unique: true },
      publicKey: { type: 'string', required: true },
      /** Increases with each use, if the device counts. A lower one than before comes from a copy of the device. */
      counter: { type: 'number', required: true, bigint: true },
      /** How the browser reaches the device, separated by commas. */
      transports: { type: 'string', required: true },
      createdAt: { type: 'date', required: true },
      lastUsedAt: { type: 'date', required: false },
    },
  },
} satisfies BetterAuthPlugin['schema'];

export interface PasskeyRow {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly relyingPartyId: string;
  readonly credentialId: string;
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: string;
  readonly createdAt: Date;
  readonly lastUsedAt?: Date | null;
}

type Adapter = Pick<DBAdapter, 'findMany' | 'findOne' | 'deleteMany' | 'updateMany'>;

const model = 'passkey';

function ofUser(userId: string, id: string) {
  return [
    { field: 'userId', value: userId },
    { field: 'id', value: id },
  ];
}

/** The user's passkeys, oldest first. */
export function findPasskeys(adapter: Pick<Adapter, 'findMany'>, userId: string): Promise<PasskeyRow[]> {
  const where = [{ field: 'userId', value: userId }];
  return adapter.findMany<PasskeyRow>({ model, where, sortBy: { field: 'createdAt', direction: 'asc' } });
}

export function findCredential(
  adapter: Pick<Adapter, 'findOne'>,
  credentialId: string,
): Promise<PasskeyRow | null> {
  return adapter.findOne<PasskeyRow>({ model, where: [{ field: 'credentialId', value: credentialId }] });
}

/** False if the user has no such passkey. */
export async function renamePasskey(
  adapter: Pick<Adapter, 'updateMany'>,
  userId: string,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  return (await adapter.updateMany({ model, where: ofUser(userId, id), update: { name } })) > 0;
}

/** Removes one passkey of the user, or all of them. Returns how many there were. */
export function removePasskeys(
  adapter: Pick<Adapter, 'deleteMany'>,
  userId: string,
  id?: string,
): Promise<number> {
  const where = id === undefined ? [{ field: 'userId', value: userId }] : ofUser(userId, id);
  return adapter.deleteMany({ model, where });
}
