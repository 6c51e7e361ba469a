const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const uuidBytes = 16;

/**
 * How a query's id is kept: a canonical lower-case UUID as its 16 bytes, anything else as the text it is. SQLite
 * never takes a blob for a text, so two different ids stay different, an upper-case UUID included.
 */
export function encodeQueryId(id: string): string | Uint8Array {
  return id.length === 36 && UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id;
}

/** The id that `encodeQueryId` made this of. */
export function decodeQueryId(kept: string | Uint8Array): string {
  if (typeof kept === 'string') return kept;
  return Buffer.from(kept.buffer, kept.byteOffset, uuidBytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
