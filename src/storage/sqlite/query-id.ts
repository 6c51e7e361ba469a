export const uuidBytes = 16;

/** The position of each byte's two digits in the text of a UUID (RFC 9562, section 4). */
const digitsAt = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const hyphensAt = [8, 13, 18, 23];
const hyphen = 0x2d;

/** The value of each lower-case hexadecimal digit, by character code. 0xff (-1 as a byte) for all other characters. */
const VALUES = Uint8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code)),
);

/**
 * Stores a canonical lower-case UUID as its 16 bytes, and any other id as text. SQLite never confuses a blob with a text, so
 * different ids stay different.
 */
export function encodeQueryId(id: string): string | Uint8Array {
  const bytes = Buffer.allocUnsafe(uuidBytes);
  return writeUuid(id, bytes, 0) ? bytes : id;
}

/** Writes the bytes of a canonical lower-case UUID. Returns false for any other id; it may have written some bytes then. */
export function writeUuid(id: string, bytes: Uint8Array, from: number): boolean {
  if (id.length !== 36) return false;
  for (const at of hyphensAt) if (id.charCodeAt(at) !== hyphen) return false;
  for (let byte = 0; byte < uuidBytes; byte++) {
    const at = digitsAt[byte] ?? 0;
    const high = VALUES[id.charCodeAt(at)] ?? 0xff;
    const low = VALUES[id.charCodeAt(at + 1)] ?? 0xff;
    if ((high | low) > 0xf) return false;
    bytes[from + byte] = (high << 4) | low;
  }
  return true;
}

/** The inverse of `encodeQueryId`. */
export function decodeQueryId(stored: string | Uint8Array): string {
  if (typeof stored === 'string') return stored;
  return Buffer.from(stored.buffer, stored.byteOffset, uuidBytes)
    .toString('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The SQL of a stored id as a text that `readIdText` reads. */
export function idText(column: string): string {
  return `iif(typeof(${column}) = 'blob', lower(hex(${column})), '=' || ${column})`;
}

export function readIdText(text: string): string {
  if (text.startsWith('=')) return text.slice(1);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}
