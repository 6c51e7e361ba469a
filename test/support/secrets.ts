/** Checks that logs and responses contain no keys or recognizable parts of them. */
import { expect } from 'vitest';
import { visibleEnds } from '../../src/domain/keys/api-key.js';

/** Anything that looks like a key. */
const KEY_FORM = /\b[a-z][a-z0-9]{1,15}_(admin|recording|reading)_[0-9A-Za-z]{49}\b/;

/** The length of pieces that do not match by chance. */
const pieceCharacters = 8;

/** Throws if a text contains a key, or 15 adjacent characters of the hidden part of one of `secrets`. */
export function requireNoKey(given: string, secrets: readonly string[], what: string): void {
  const text = given.includes('%') ? `${given}\n${percentDecoded(given)}` : given;
  // The message must not contain the key: it would be in the log of the test run.
  expect(KEY_FORM.test(text), `something like a key is in ${what}`).toBe(false);
  const shown = secrets
    .filter((secret) => hasPieceOf(text, secret))
    .map((secret) => visibleEnds(secret).start);
  expect(shown, `characters of these keys are in ${what}`).toEqual([]);
}

/** Decoded as often as it was encoded. */
function percentDecoded(text: string): string {
  const decoded = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decoded === text ? text : percentDecoded(decoded);
}

function hasPieceOf(text: string, secret: string): boolean {
  const { start, end } = visibleEnds(secret);
  const hidden = secret.slice(start.length, -end.length);
  for (let at = 0; at + pieceCharacters <= hidden.length; at += pieceCharacters)
    if (text.includes(hidden.slice(at, at + pieceCharacters))) return true;
  return false;
}
