import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryIdCharactersMax } from '../../../src/domain/limits.js';
import { decodeQueryId, encodeQueryId } from '../../../src/storage/postgres/query-id.js';

const keptAs = (id: string): Buffer => Buffer.from(encodeQueryId(id), 'hex');

/** Whatever an id may be: no NUL, no half of a surrogate pair. */
const character = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((one) => one !== '\0');
const anyText = fc.string({ unit: character, minLength: 1, maxLength: queryIdCharactersMax });

/** Texts whose UTF-8 is 16 bytes, which are as long as a UUID's. */
const sixteenBytes = fc
  .array(fc.constantFrom('a', '-', '\u007f', 'é', '€', '🙂'), { minLength: 1, maxLength: 16 })
  .map((parts) => {
    let text = '';
    for (const part of parts) if (Buffer.byteLength(text + part) <= 16) text += part;
    return text + 'z'.repeat(16 - Buffer.byteLength(text));
  });

/** UUIDs, and what only looks like one. */
const uuid = fc.uuid();
const nearlyUuid = fc.oneof(
  uuid.map((id) => id.toUpperCase()),
  uuid.map((id) => id.replaceAll('-', '')),
  uuid.map((id) => `{${id}}`),
  uuid.map((id) => `${id}\n`),
);

/** The text that a UUID's own bytes spell, where they spell one. */
const uuidInWords = fc
  .string({ unit: fc.constantFrom(...'abcdefghijklmnop'), minLength: 16, maxLength: 16 })
  .map((text) => ({ text, id: decodeQueryId(Buffer.from(text)) }));

const anyId = fc.oneof(anyText, sixteenBytes, uuid, nearlyUuid);

test('decodes every id to the original', () => {
  fc.assert(
    fc.property(anyId, (id) => {
      expect(decodeQueryId(keptAs(id))).toBe(id);
    }),
  );
});

test('encodes ids as hexadecimal bytes', () => {
  fc.assert(
    fc.property(anyId, (id) => {
      expect(encodeQueryId(id)).toMatch(/^([0-9a-f]{2})+$/);
    }),
  );
});

test('encodes different ids as different bytes', () => {
  fc.assert(
    fc.property(anyId, anyId, (one, other) => {
      expect(encodeQueryId(one) === encodeQueryId(other)).toBe(one === other);
    }),
  );
});

test('never confuses a text with the UUID that has its bytes', () => {
  fc.assert(
    fc.property(uuidInWords, ({ text, id }) => {
      expect(keptAs(id)).toEqual(Buffer.from(text));
      expect(keptAs(text)).toEqual(Buffer.from(`${text}\0`));
      expect(decodeQueryId(keptAs(text))).toBe(text);
    }),
  );
});

test.each([
  [
    'stores a canonical UUID as its 16 bytes',
    '0198c2a0-0000-7000-8000-0000000000ff',
    '0198c2a000007000800000000000 00ff',
  ],
  ['stores an upper-case UUID as text', 'ABCDEF00-0000-7000-8000-0000000000FF', undefined],
  ['appends a NUL to a text of 16 bytes', 'abcdefghijklmnop', '6162636465666768696a6b6c6d6e6f70 00'],
  ['appends a NUL to 8 letters of two bytes each', 'éééééééé', `${'c3a9'.repeat(8)}00`],
  ['stores 15 bytes unchanged', 'abcdefghijklmno', '6162636465666768696a6b6c6d6e6f'],
  ['stores 17 bytes unchanged', 'abcdefghijklmnopq', '6162636465666768696a6b6c6d6e6f7071'],
])('%s', (_what, id, hex) => {
  expect(encodeQueryId(id)).toBe(hex?.replaceAll(' ', '') ?? Buffer.from(id).toString('hex'));
  expect(decodeQueryId(keptAs(id))).toBe(id);
});
