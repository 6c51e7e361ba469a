import type { Query } from '../../domain/queries/query.js';
import type { Row } from './database.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuidBytes = 16;

/**
 * How a query's id is kept, as a `bytea` in hexadecimal digits: a canonical lower-case UUID as its 16 bytes, anything
 * else as its UTF-8, with a NUL behind it where that is 16 bytes long. Ids hold no NUL, so two different ids are
 * always different bytes.
 */
export function encodeQueryId(id: string): string {
  if (id.length === 36 && UUID.test(id)) return id.replaceAll('-', '');
  const bytes = Buffer.from(id, 'utf8');
  return bytes.length === uuidBytes ? `${bytes.toString('hex')}00` : bytes.toString('hex');
}

/** The same as bytes; none for no id. */
export function bytesOf(id: string | undefined): Buffer {
  return Buffer.from(id === undefined ? '' : encodeQueryId(id), 'hex');
}

/** The id that `encodeQueryId` made these bytes of. */
export function decodeQueryId(bytes: Buffer): string {
  if (bytes.length === uuidBytes) {
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
  const marked = bytes.length === uuidBytes + 1 && bytes.at(-1) === 0;
  return bytes.toString('utf8', 0, marked ? uuidBytes : bytes.length);
}

/** A row of `readQueries`. */
export function toQuery(row: Row): Query {
  return {
    id: decodeQueryId(row['id'] as Buffer),
    caller: String(row['caller']),
    occurredAt: Number(row['occurredAt']),
  };
}
