const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * How a query's id is kept: a canonical lower-case UUID as its 16 bytes, anything else as the text it is. SQLite
 * never takes a blob for a text, so two different ids stay different, an upper-case UUID included.
 */
export function encodeQueryId(id: string): string | Uint8Array {
  return id.length === 36 && UUID.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id;
}
