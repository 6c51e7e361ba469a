/** Hashes of passwords, and the form in which they are stored. */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';

/** The memory and time of a hash: scrypt's N is 2 to the power of `ln`. */
interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export interface PasswordHash {
  readonly cost: Cost;
  readonly salt: string | Buffer;
  readonly key: Buffer;
}

/** Of the equal costs that OWASP ASVS 5.0 asks for (appendix C), the one with the least memory. */
const cost: Cost = { ln: 15, r: 8, p: 3 };
/** The cost of hashes that earlier versions made. */
const olderCost: Cost = { ln: 14, r: 16, p: 1 };
/** What an older hash costs less than a new one. */
const missingCost: Cost = { ln: 15, r: 8, p: 2 };

const memoryBytesMax = 2 ** 26;
const keyBytes = 64;
const saltBytes = 16;

/** The PHC string format, which begins with the cost. */
const PREFIX = `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$`;
const FORM =
  /^\$scrypt\$ln=(?<ln>1\d),r=(?<r>[1-8]),p=(?<p>[1-9])\$(?<salt>[A-Za-z\d+/]{22})\$(?<key>[A-Za-z\d+/]{86})$/;
/** The form of earlier versions: in hexadecimal, without the cost. */
const OLDER_FORM = /^(?<salt>[\da-f]{32}):(?<key>[\da-f]{128})$/;

/** Whether new hashes have another form or cost. */
export function isOutdated(hash: string): boolean {
  return !hash.startsWith(PREFIX);
}

/** Undefined if the text is not a hash of this or an earlier version. */
export function parseHash(text: string): PasswordHash | undefined {
  const { ln, r, p, salt = '', key = '' } = FORM.exec(text)?.groups ?? {};
  if (ln !== undefined) {
    const read = { ln: Number(ln), r: Number(r), p: Number(p) };
    return { cost: read, salt: Buffer.from(salt, 'base64'), key: Buffer.from(key, 'base64') };
  }
  const older = OLDER_FORM.exec(text)?.groups;
  if (older === undefined) return undefined;
  // Earlier versions hashed with the text of the salt.
  return { cost: olderCost, salt: older['salt'] ?? '', key: Buffer.from(older['key'] ?? '', 'hex') };
}

/** Blocks its thread for as long as the hash costs. */
export function createHash(password: string): string {
  const salt = randomBytes(saltBytes);
  return `${PREFIX}${toBase64(salt)}$${toBase64(deriveKey(password, salt, cost))}`;
}

/** Blocks its thread for as long as a new hash costs, so that the time does not tell who has an older one. */
export function matchesHash(password: string, { cost: own, salt, key }: PasswordHash): boolean {
  if (own === olderCost) deriveKey(password, salt, missingCost);
  return timingSafeEqual(deriveKey(password, salt, own), key);
}

function deriveKey(password: string, salt: string | Buffer, { ln, r, p }: Cost): Buffer {
  return scryptSync(password, salt, keyBytes, { N: 2 ** ln, r, p, maxmem: memoryBytesMax });
}

/** Without padding, as the PHC string format asks. */
function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
