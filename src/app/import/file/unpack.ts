/** Decompresses gzip and Zstandard, which it detects by content instead of file name. */
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Compressed data is cut short or damaged. */
export class PackedDataError extends Error {
  override readonly name = 'PackedDataError';
}

/** RFC 1952, section 2.3.1. No text begins with these bytes. */
const gzipMagic = Buffer.from([0x1f, 0x8b]);

/** RFC 8878, sections 3.1.1 and 3.1.2: a frame, or a skippable one, as parallel compressors write first. */
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const zstdSkippableMagicEnd = Buffer.from([0x2a, 0x4d, 0x18]);

const magicBytes = 4;

/** Decompresses all members or frames. Throws a `PackedDataError` if they are damaged. */
export async function* unpack(stored: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const start = await takeStart(stored, ({ length }) => length >= magicBytes);
  const all = prepend(start, stored);
  if (start.subarray(0, gzipMagic.length).equals(gzipMagic)) yield* gunzip(all);
  else if (isZstd(start)) yield* unzstd(all);
  else yield* all;
}

/** Reads until there are enough bytes, or all: a pipe may deliver them one by one. */
export async function takeStart(
  chunks: AsyncGenerator<Buffer>,
  isEnough: (start: Buffer) => boolean,
): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (!isEnough(start)) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

export async function* prepend(start: Buffer, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start;
  yield* chunks;
}

function isZstd(start: Buffer): boolean {
  const magic = start.subarray(0, magicBytes);
  return (
    magic.equals(zstdMagic) ||
    (((magic[0] ?? 0) & 0xf0) === 0x50 && magic.subarray(1).equals(zstdSkippableMagicEnd))
  );
}

async function* gunzip(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  // `unpacked` throws its errors, too.
  pipeline(Readable.from(packed), unpacked, () => {});
  try {
    yield* unpacked;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw new PackedDataError(`its gzip data is ${code === 'Z_BUF_ERROR' ? 'cut short' : 'damaged'}`, {
      cause: error,
    });
  }
}

/** The size of an empty skippable frame (RFC 8878, section 3.1.2), the smallest frame. */
const frameBytesMin = 8;

/**
 * Node supports Zstandard only since 22.15, so this uses the reference implementation, which checks the frames' checksums.
 * The window is limited to 128 MiB, the default of `zstd`.
 *
 * The decoder reads its input synchronously. It yields at least one piece per chunk, so one chunk ready in advance is
 * enough.
 */
async function* unzstd(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let ready: Buffer | undefined;
  let emptyPiecesMax = 0;
  const { ZSTDDecoder } = await import('zstddec/stream');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  const pieces = decoder.decodeStreaming(
    (function* () {
      while (ready !== undefined) {
        const chunk = ready;
        ready = undefined;
        emptyPiecesMax = Math.ceil(chunk.length / frameBytesMin) + 1;
        yield chunk;
      }
    })(),
  );
  while (true) {
    while (ready === undefined) {
      const { done, value } = await packed.next();
      if (done) break;
      if (value.length > 0) ready = value;
    }
    const piece = nextPiece(pieces);
    if (piece.done) return;
    if (piece.value.length > 0) yield Buffer.from(piece.value.buffer);
    // The decoder yields empty pieces for empty frames, and endlessly for damaged data.
    else if (emptyPiecesMax-- <= 0) throw new PackedDataError('its Zstandard data is damaged');
  }
}

function nextPiece(pieces: Generator<Uint8Array>): IteratorResult<Uint8Array> {
  try {
    return pieces.next();
  } catch (error) {
    throw new PackedDataError('its Zstandard data is cut short', { cause: error });
  }
}
