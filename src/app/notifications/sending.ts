/** What sending a message needs besides its channel: the destination, decrypted, and why sending failed. */
import { CallerStatsError } from '../../domain/errors.js';
import type { Destination } from '../../domain/notifications/notification.js';

/** Characters of the reason why an attempt failed. */
const reasonCharactersMax = 200;
/** How much of an error message is searched for addresses. */
const textCharactersMax = 2000;

/** Encrypts texts with the server's secrets. */
export interface Seal {
  readonly seal: (text: string) => Promise<string>;
  readonly open: (sealed: string) => Promise<string | undefined>;
  readonly isOutdated: (sealed: string) => Promise<boolean>;
}

/** Throws `invalid` if the secret that encrypted it is gone. */
export async function openDestination(seal: Seal, sealed: string): Promise<Destination> {
  const text = await seal.open(sealed);
  if (text === undefined)
    throw new CallerStatsError(
      'invalid',
      'the destination cannot be decrypted with the secrets of this server; enter it again',
    );
  return JSON.parse(text) as Destination;
}

/** An e-mail address: mail servers repeat the one that they refuse. */
const ADDRESS = /(?<![^\s<>"':,;])[^\s<>"':,;]*@[^\s<>"':,;]*/g;

/** Why sending failed, for people and the log: without the destination, which may contain a secret, or is a person's address. */
export function reasonOf(error: unknown): string {
  // Node's error of several failed addresses has no message of its own.
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const messages = errors.map((one) => (one instanceof Error ? one.message : String(one)));
  return messages
    .join('; ')
    .slice(0, textCharactersMax)
    .replaceAll(ADDRESS, '…@…')
    .slice(0, reasonCharactersMax);
}
