/** The cipher of what the database keeps secret: XChaCha20-Poly1305, opened here without the library that seals it. */
import { createDecipheriv, createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { SealedTexts } from '../../src/auth/sealed-texts.js';
import { Secrets } from '../../src/auth/secrets.js';

const secrets = new Secrets(['a secret of the server, with enough characters']);
const texts = new SealedTexts('a purpose', async () => secrets);

/** HChaCha20 (draft-irtf-cfrg-xchacha, section 2.2): the key for the rest of a nonce, of which it takes 16 bytes. */
function deriveKey(key: Buffer, nonce: Buffer): Buffer {
  const words = [...'expa', ...'nd 3', ...'2-by', ...'te k'].map((letter) => letter.charCodeAt(0));
  const input = Buffer.concat([Buffer.from(words), key, nonce]);
  const state = Array.from({ length: 16 }, (_, at) => input.readUInt32LE(4 * at));
  const at = (place: number): number => state[place] ?? 0;
  const mix = (sum: number, other: number, turned: number, by: number): void => {
    state[sum] = (at(sum) + at(other)) >>> 0;
    const mixed = (at(turned) ^ at(sum)) >>> 0;
    state[turned] = ((mixed << by) | (mixed >>> (32 - by))) >>> 0;
  };
  const quarterRound = ([a, b, c, d]: readonly [number, number, number, number]): void => {
    mix(a, b, d, 16);
    mix(c, d, b, 12);
    mix(a, b, d, 8);
    mix(c, d, b, 7);
  };
  for (let round = 0; round < 10; round++) {
    for (const one of [0, 1, 2, 3]) quarterRound([one, one + 4, one + 8, one + 12]);
    for (const one of [0, 1, 2, 3])
      quarterRound([one, 4 + ((one + 1) % 4), 8 + ((one + 2) % 4), 12 + ((one + 3) % 4)]);
  }
  const derived = Buffer.alloc(32);
  for (const [place, word] of [...state.slice(0, 4), ...state.slice(12)].entries())
    derived.writeUInt32LE(word, 4 * place);
  return derived;
}

function open(sealed: Buffer, key: Buffer): string {
  const [nonce, encrypted, tag] = [sealed.subarray(0, 24), sealed.subarray(24, -16), sealed.subarray(-16)];
  const rest = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]);
  const derived = deriveKey(key, nonce.subarray(0, 16));
  const decipher = createDecipheriv('chacha20-poly1305', derived, rest, { authTagLength: 16 });
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString();
}

test('what is sealed opens as XChaCha20-Poly1305, with this key and unchanged', async () => {
  const sealed = Buffer.from((await texts.seal('a text')).replace(/^.*\$/, ''), 'hex');
  const keyOf = (purpose: string) =>
    createHash('sha256').update(`${purpose} ${secrets.versions[0]?.value}`).digest();
  const key = keyOf('a purpose');
  expect(open(sealed, key)).toBe('a text');
  expect(() => open(sealed, keyOf('another'))).toThrow();
  for (const at of [0, 30, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
    expect(() => open(changed, key)).toThrow();
  }
});
