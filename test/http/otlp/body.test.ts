/** Bodies in zstd, which needs much more memory to decode than gzip. Only newer versions of Node have it. */
import { createHook } from 'node:async_hooks';
import { PassThrough, type Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { zstdDecodersMax, zstdWindowBytesMax } from '../../../src/domain/limits.js';
import { decodedPieces, refuseOtherEncodings } from '../../../src/http/otlp/body.js';

const { createZstdCompress, constants } = zlib as {
  readonly createZstdCompress?: (options: { readonly params: object }) => Transform;
  readonly constants: { readonly [name: string]: number };
};

const request = { headers: { 'content-encoding': 'zstd' } };
const text = 'a body '.repeat(10_000);

/** The text in zstd with a window of so many bytes. Undefined without zstd, which has to be refused then. */
async function compressed(windowBytes: number): Promise<Buffer | undefined> {
  if (createZstdCompress === undefined) {
    await expect(refuseOtherEncodings(request)).rejects.toThrow('send gzip, deflate, or none');
    return undefined;
  }
  const compress = createZstdCompress({
    params: { [constants['ZSTD_c_windowLog'] ?? 0]: Math.log2(windowBytes) },
  });
  // Without its length, which would be the window if it is known.
  for (const half of [text, text]) compress.write(half);
  compress.end();
  return buffer(compress);
}

/** Sends these bytes, and the rest when `sendRest` is called. */
function open(bytes: Buffer, rest: Buffer = Buffer.alloc(0)) {
  const payload = new PassThrough();
  payload.write(bytes);
  let kept = 0;
  const keep = (more: number) => {
    kept += more;
  };
  const read = async () => {
    const pieces: Buffer[] = [];
    for await (const piece of decodedPieces(request, payload, { bytesMax: 1e6, records: 'spans', keep }))
      pieces.push(piece);
    return { text: Buffer.concat(pieces).toString(), kept };
  };
  return { result: read(), sendRest: () => payload.end(rest) };
}

test('a larger window is refused, and the message says what helps', async () => {
  const [allowed, larger] = [await compressed(zstdWindowBytesMax), await compressed(2 * zstdWindowBytesMax)];
  if (allowed === undefined || larger === undefined) return;
  const { result, sendRest } = open(larger);
  sendRest();
  await expect(result).rejects.toMatchObject({
    status: 400,
    message: `The window of the body's zstd is larger than ${zstdWindowBytesMax} bytes; use level 19 or lower, without long distance matching.`,
  });
  const other = open(allowed);
  other.sendRest();
  expect(await other.result).toEqual({ text: text + text, kept: allowed.length });
});

test('bodies that stall have no decoder, and the others a few at a time', async () => {
  const body = await compressed(zstdWindowBytesMax);
  if (body === undefined) return;
  let [decoders, most] = [0, 0];
  const hook = createHook({
    init(_id, type) {
      if (type === 'ZLIB') most = Math.max(most, ++decoders);
    },
  }).enable();
  const bodies = Array.from({ length: 5 * zstdDecodersMax }, () =>
    open(body.subarray(0, 20), body.subarray(20)),
  );
  await new Promise(setImmediate);
  expect(most).toBe(0);
  for (const { sendRest } of bodies) sendRest();
  const read = bodies.map(async ({ result }) => {
    expect(await result).toEqual({ text: text + text, kept: body.length });
    decoders--;
  });
  await Promise.all(read);
  hook.disable();
  // The next one may begin before the test knows of the end of the last.
  expect(most).toBeLessThanOrEqual(2 * zstdDecodersMax);
});
