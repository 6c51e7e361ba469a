const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuidBytes = 16;

/**
 * The bytes that store a query id, in hexadecimal: the 16 bytes of a canonical lower-case UUID, or else the UTF-8 of the id,
 * with a NUL appended if that has 16 bytes. Ids contain no NUL, so different ids are always different bytes.
 */
export function encodeQueryId(id: string): string {
  if (id.length === 36 && UUID.test(id)) return id.replaceAll('-', '');
  const bytes = Buffer.from(id, 'utf8');
  return bytes.length === uuidBytes ? `${bytes.toString('hex')}00` : bytes.toString('hex');
}

/** The bytes of an id. Empty if there is no id. */
export function bytesOf(id: string | undefined): Buffer {
  return Buffer.from(id === undefined ? '' : encodeQueryId(id), 'hex');
}

/** The inverse of `encodeQueryId`. */
export function decodeQueryId(bytes: Buffer): string {
  if (bytes.length === uuidBytes) {
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
  const marked = bytes.length === uuidBytes + 1 && bytes.at(-1) === 0;
  return bytes.toString('utf8', 0, marked ? uuidBytes : bytes.length);
}
