const uuidBytes = 16;

/** Where the two digits of each byte begin in the text of a UUID (RFC 9562, section 4). */
const digitsAt = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const hyphensAt = [8, 13, 18, 23];
const hyphen = 0x2d;

/** The value of each lower-case hexadecimal digit by its character code; of all others 0xff, which is -1 in a byte. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
);

/**
 * How a query's id is kept: a canonical lower-case UUID as its 16 bytes, anything else as the text it is. SQLite
 * never takes a blob for a text, so two different ids stay different, an upper-case UUID included.
 */
export function encodeQueryId(id: string): string | Uint8Array {
  if (id.length !== 36) return id;
  for (const at of hyphensAt) if (id.charCodeAt(at) !== hyphen) return id;
  const bytes = Buffer.allocUnsafe(uuidBytes);
  for (let byte = 0; byte < uuidBytes; byte++) {
    const at = digitsAt[byte] ?? 0;
    const high = VALUES[id.charCodeAt(at)] ?? 0xff;
    const low = VALUES[id.charCodeAt(at + 1)] ?? 0xff;
    if ((high | low) > 0xf) return id;
    bytes[byte] = (high << 4) | low;
  }
  return bytes;
}

/** The id that `encodeQueryId` made this of. */
export function decodeQueryId(kept: string | Uint8Array): string {
  if (typeof kept === 'string') return kept;
  return Buffer.from(kept.buffer, kept.byteOffset, uuidBytes)
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
