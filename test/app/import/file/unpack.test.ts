import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PackedDataError, unpack } from '../../../../src/app/import/file/unpack.js';
import { sampleLines } from '../../../support/sample.js';

/** The first 600 lines of the sample: a frame with 300, an empty frame, a skippable frame, a frame with 300. */
const zstd = readFileSync(new URL('../../../samples/queries-600.ndjson.zst', import.meta.url));
const text = `${sampleLines().slice(0, 600).join('\n')}\n`;
const half = Math.floor(text.length / 2);
const gzip = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);

const forms = new Map([
  ['gzip', gzip],
  ['zstd', zstd],
  ['plain', Buffer.from(text)],
]);

/** Unpacks the bytes, which arrive in chunks of these lengths, repeated. */
async function unpackAll(bytes: Buffer, lengths: readonly number[]): Promise<string> {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const length = lengths[turn % lengths.length] ?? bytes.length;
      yield bytes.subarray(at, at + length);
      at += length;
    }
  }
  const pieces: Buffer[] = [];
  for await (const piece of unpack(chunks())) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('compressed data is refused', () => {
  test.each([
    ['gzip', gzip],
    ['Zstandard', zstd],
  ])('if it is cut: %s', async (name, packed) => {
    for (const missing of [1, 4, 5, 1000]) {
      const cut = unpackAll(packed.subarray(0, packed.length - missing), [700]);
      await expect(cut).rejects.toThrow(new PackedDataError(`its ${name} data is cut short`));
    }
  });

  test('if anything follows its last frame', async () => {
    const more = Buffer.concat([zstd, Buffer.from('{"id":"a","caller":"web"}\n')]);
    await expect(unpackAll(more, [more.length])).rejects.toThrow('its Zstandard data is damaged');
  });
});

test('compressed data is unpacked in chunks of any size', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...forms.keys()),
    fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 5 }),
    async (form, lengths) => {
      expect(await unpackAll(forms.get(form) ?? gzip, lengths)).toBe(text);
    },
  );
  await fc.assert(property, { numRuns: 100 });
  for (const bytes of [gzip, zstd]) expect(await unpackAll(bytes, [1])).toBe(text);
});

test('thousands of empty frames are skipped', async () => {
  const nothing = Buffer.from('502a4d1800000000', 'hex');
  const many = Buffer.concat([
    ...Array<Buffer>(5000).fill(nothing),
    zstd,
    ...Array<Buffer>(5000).fill(nothing),
  ]);
  expect(await unpackAll(many, [many.length])).toBe(text);
});
