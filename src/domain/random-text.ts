/** Random ids and secrets. The source of randomness is an argument. */

const ID_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A uniform integer in [0, max) from a cryptographic source. */
export type RandomInt = (max: number) => number;

/** A new id of 16 characters (80 bits), without letters that look like others. */
export function generateId(randomInt: RandomInt): string {
  return randomText(16, randomInt, ID_ALPHABET);
}

export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function randomText(characters: number, randomInt: RandomInt, alphabet = BASE62): string {
  return Array.from({ length: characters }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
}
