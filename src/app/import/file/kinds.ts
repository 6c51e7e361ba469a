/** Names bytes that are not text by how they begin, for files and for bodies of requests. */

interface Kind {
  /** Continues "it is". */
  readonly what: string;
  /** What to do with a file of this kind. */
  readonly remedy: string;
  /** The Content-Encoding with which a body of this kind may be sent. */
  readonly encoding: string | undefined;
}

const [asCsv, asTable, unpacked] = ['save it as CSV', 'export it as CSV or NDJSON', 'unpack it first'];

/** The first bytes as Latin-1, what they are, and what to do with such a file. No text that somebody sends begins so. */
const KINDS: readonly [start: string | RegExp, what: string, remedy: string, encoding?: string][] = [
  [/^PK\p{Cc}{2}.*(?:\[Content_Types\]|_rels\/|xl\/|opendocument\.spreadsheet)/su, 'a spreadsheet', asCsv],
  ['PK\x03\x04', 'a zip archive', unpacked],
  ['PK\x05\x06', 'an empty zip archive', unpacked],
  ['PK\x07\x08', 'a part of a zip archive', unpacked],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a document of an older Excel', asCsv],
  ['\x1f\x8b', 'compressed with gzip', unpacked, 'gzip'],
  ['\x28\xb5\x2f\xfd', 'compressed with zstd', unpacked, 'zstd'],
  [/^BZh[1-9]1AY&SY/, 'compressed with bzip2', unpacked],
  ['\xfd7zXZ\0', 'compressed with xz', unpacked],
  ['7z\xbc\xaf\x27\x1c', 'a 7z archive', unpacked],
  ['Rar!\x1a\x07', 'a RAR archive', unpacked],
  ['\x04\x22\x4d\x18', 'compressed with LZ4', unpacked],
  [/^(?=[^\0]{1,100}\0).{257}ustar/s, 'a tar archive', unpacked],
  ['PAR1\x15', 'a Parquet file', asTable],
  ['Obj\x01', 'an Avro file', asTable],
  ['ARROW1\0', 'an Arrow file', asTable],
  ['SQLite format 3\0', 'a SQLite database', 'export its table as CSV'],
  ['PGDMP', 'a dump of PostgreSQL', 'export its table as CSV'],
  ['%PDF-', 'a PDF document', 'export the table in it as CSV'],
  [/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b/i, 'an HTML page', 'download the file itself'],
  [/^(?:\xef\xbb\xbf)?\s*<\?xml\b/, 'an XML document', asTable],
  ['\xff\xfe\0\0', 'UTF-32 text', 'save it as UTF-8'],
  ['\0\0\xfe\xff', 'UTF-32 text', 'save it as UTF-8'],
];

/** Undefined for text. Needs 512 bytes, if there are so many, to tell a tar archive and a spreadsheet. */
export function findKind(start: Buffer): Kind | undefined {
  const text = start.toString('latin1');
  const found = KINDS.find(([pattern]) =>
    typeof pattern === 'string' ? text.startsWith(pattern) : pattern.test(text),
  );
  if (found === undefined) return undefined;
  const [, what, remedy, encoding] = found;
  return { what, remedy, encoding };
}
