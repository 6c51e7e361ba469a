import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeQueryId, encodeQueryId } from '../../../src/storage/sqlite/query-id.js';

const uuid = '0198c2af-dead-7bee-89ab-cdef01234567';

/** The id with another character at a place. */
const changed = (at: number, character: string): string => uuid.slice(0, at) + character + uuid.slice(at + 1);

test('stores anything but a canonical UUID as text', () => {
  const texts = ['', 'a', uuid.slice(1), `${uuid}0`, uuid.replaceAll('-', ''), uuid.toUpperCase()];
  for (const text of texts) expect(encodeQueryId(text)).toBe(text);
});

test.each([
  ['no digit', ['g', '`', '/', ':', '-', ' ', '\0']],
  ['a capital', ['A', 'F']],
  ['not of ASCII', ['\u0080', 'é', '\u0130', '\u0661', '\uff10', '\ud83d']],
])('stores a UUID with %s in place of a digit as text', (_what, characters) => {
  for (const character of characters)
    for (let at = 0; at < uuid.length; at++)
      if (uuid[at] !== '-') expect(encodeQueryId(changed(at, character))).toBe(changed(at, character));
});

test('stores a UUID with a digit in place of a hyphen as text', () => {
  for (const at of [8, 13, 18, 23])
    for (const digit of ['0', 'f']) expect(encodeQueryId(changed(at, digit))).toBe(changed(at, digit));
});

test('stores a canonical UUID as its 16 bytes and decodes it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constant(uuid), fc.uuid()), (id) => {
      const kept = encodeQueryId(id);
      expect(kept).toEqual(Buffer.from(id.replaceAll('-', ''), 'hex'));
      expect(decodeQueryId(kept)).toBe(id);
    }),
  );
});

test('decodes every other id, and bytes within a larger buffer', () => {
  fc.assert(fc.property(fc.string(), (id) => decodeQueryId(encodeQueryId(id)) === id));
  const bytes = Buffer.from(`ffff${uuid.replaceAll('-', '')}eeee`, 'hex');
  expect(decodeQueryId(bytes.subarray(2, 18))).toBe(uuid);
});
