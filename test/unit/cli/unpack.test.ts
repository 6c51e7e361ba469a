import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PackedDataError, unpack } from '../../../src/app/import/unpack.js';
import { sampleLines } from '../../support/sample.js';

/** The first 600 lines of the sample: 300 in a frame, a frame of nothing, one to be passed over, 300 in a third. */
const zstd = readFileSync(new URL('../../samples/queries-600.ndjson.zst', import.meta.url));
const text = `${sampleLines().slice(0, 600).join('\n')}\n`;
const half = Math.floor(text.length / 2);
const gzip = Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))]);

const forms = new Map([
  ['gzip', gzip],
  ['zstd', zstd],
  ['plain', Buffer.from(text)],
]);

/** What the bytes hold, handed over in pieces of these lengths, over and over. */
async function unpacked(bytes: Buffer, lengths: readonly number[]): Promise<string> {
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

describe('packed data is refused', () => {
  test.each([
    ['gzip', gzip],
    ['Zstandard', zstd],
  ])('that is cut short: %s', async (name, packed) => {
    for (const missing of [1, 4, 5, 1000]) {
      const cut = unpacked(packed.subarray(0, packed.length - missing), [700]);
      await expect(cut).rejects.toThrow(new PackedDataError(`its ${name} data is cut short`));
    }
  });

  test.each([
    ['gzip', gzip],
    ['Zstandard', zstd],
  ])('that was damaged in any one place: %s', async (_name, packed) => {
    const run = fc.asyncProperty(
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 7 }),
      async (at, bit) => {
        const damaged = Buffer.from(packed);
        damaged[at] = (damaged[at] ?? 0) ^ (1 << bit);
        const outcome = await unpacked(damaged, [1000]).catch((error) => error);
        // What does not change the content is no damage: a flag that nobody reads, a magic number that is none any more.
        if (outcome !== text && at >= 10) expect(outcome).toBeInstanceOf(PackedDataError);
      },
    );
    await fc.assert(run, { numRuns: 200 });
  });

  test('with something behind its last frame', async () => {
    const more = Buffer.concat([zstd, Buffer.from('{"id":"a","caller":"web"}\n')]);
    await expect(unpacked(more, [more.length])).rejects.toThrow('its Zstandard data is damaged');
  });
});

test('however it arrives, packed data gives what was packed', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...forms.keys()),
    fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 5 }),
    async (form, lengths) => {
      expect(await unpacked(forms.get(form) ?? gzip, lengths)).toBe(text);
    },
  );
  await fc.assert(property, { numRuns: 100 });
  for (const bytes of [gzip, zstd]) expect(await unpacked(bytes, [1])).toBe(text);
});

test('frames with nothing in them are passed over, however many', async () => {
  const nothing = Buffer.from('502a4d1800000000', 'hex');
  const many = Buffer.concat([
    ...Array<Buffer>(5000).fill(nothing),
    zstd,
    ...Array<Buffer>(5000).fill(nothing),
  ]);
  expect(await unpacked(many, [many.length])).toBe(text);
});
