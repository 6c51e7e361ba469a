import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queryIdCharactersMax } from '../../../../src/domain/limits.js';
import { decodeQueryId, encodeQueryId } from '../../../../src/storage/postgres/query-id.js';

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

test('every id comes back as it was', () => {
  fc.assert(
    fc.property(anyId, (id) => {
      expect(decodeQueryId(keptAs(id))).toBe(id);
    }),
  );
});

test('what is kept is hexadecimal digits, two for each byte, and nothing else', () => {
  fc.assert(
    fc.property(anyId, (id) => {
      expect(encodeQueryId(id)).toMatch(/^([0-9a-f]{2})+$/);
    }),
  );
});

test('different ids are kept as different bytes', () => {
  fc.assert(
    fc.property(anyId, anyId, (one, other) => {
      expect(encodeQueryId(one) === encodeQueryId(other)).toBe(one === other);
    }),
  );
});

test('no text is taken for the UUID whose bytes it spells', () => {
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
    'a canonical UUID is its 16 bytes',
    '0198c2a0-0000-7000-8000-0000000000ff',
    '0198c2a000007000800000000000 00ff',
  ],
  ['one in capitals is text', 'ABCDEF00-0000-7000-8000-0000000000FF', undefined],
  ['16 bytes of text get a NUL behind them', 'abcdefghijklmnop', '6162636465666768696a6b6c6d6e6f70 00'],
  ['8 letters of two bytes are 16 bytes as well', 'éééééééé', `${'c3a9'.repeat(8)}00`],
  ['15 bytes stay what they are', 'abcdefghijklmno', '6162636465666768696a6b6c6d6e6f'],
  ['17 bytes stay what they are', 'abcdefghijklmnopq', '6162636465666768696a6b6c6d6e6f7071'],
])('%s', (_what, id, hex) => {
  expect(encodeQueryId(id)).toBe(hex?.replaceAll(' ', '') ?? Buffer.from(id).toString('hex'));
  expect(decodeQueryId(keptAs(id))).toBe(id);
});
