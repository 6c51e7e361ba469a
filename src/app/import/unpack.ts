/** From the stored bytes of an import file to what they hold, by content and not by name: gzip, Zstandard, or neither. */
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Thrown where packed data is cut short or damaged. The message says which. */
export class PackedDataError extends Error {
  override readonly name = 'PackedDataError';
}

/** RFC 1952, section 2.3.1. No text begins with these bytes. */
const gzipMagic = Buffer.from([0x1f, 0x8b]);

/** RFC 8878, sections 3.1.1 and 3.1.2: a frame, or one to be passed over, as parallel compressors write first. */
const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const zstdSkippableMagicEnd = Buffer.from([0x2a, 0x4d, 0x18]);

const magicBytes = 4;

/** The unpacked bytes, of as many members or frames as there are. `PackedDataError` where they break off. */
export async function* unpack(stored: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const start = await takeStart(stored);
  const all = continued(start, stored);
  if (start.subarray(0, gzipMagic.length).equals(gzipMagic)) yield* gunzip(all);
  else if (isZstd(start)) yield* unzstd(all);
  else yield* all;
}

/** The first bytes, or all there are: a pipe may deliver them one by one. */
async function takeStart(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < magicBytes) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

async function* continued(start: Buffer, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
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
  // Its errors come out of `unpacked` as well, which is where they are waited for.
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

/** Of the smallest frame, which has nothing in it and is passed over (RFC 8878, section 3.1.2). */
const frameBytesMin = 8;

/**
 * Node has no Zstandard before version 22.15; this is the reference implementation, and so checks what the frames say
 * of their content. Windows are as wide as `zstd` itself takes unless told otherwise: 128 MiB.
 *
 * The decoder asks for its input in the midst of its work, where nothing can be waited for. Each chunk gives at least one
 * piece, so it never asks for more than one before it gives the next: one is always ready.
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
    // At damaged data it stays where it is, and gives empty pieces for ever; otherwise only frames with nothing in them do.
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
