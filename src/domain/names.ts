/** The names of organizations, projects, keys and people. */
import { nameCharactersMax } from './limits.js';
import { failure, type Result, success } from './result.js';

/** A character that can be seen, unlike a zero-width space, a soft hyphen or an empty letter. */
const visible = /[^\s\p{Default_Ignorable_Code_Point}\u{2800}]/u;

/** Control characters, and those that reorder or break the line of the text around them: names are shown in lists and logs. */
const unsettling = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Whether a name has 1 to 100 characters, a visible one among them, and none that changes the text around it. */
export function isName(name: string): boolean {
  return !isLongerThan(name, nameCharactersMax) && visible.test(name) && !unsettling.test(name);
}

/** Whether a text has more characters, which are code points, than this. Counting those of 4 MB would take 40 ms. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  // A code point has one or two UTF-16 units.
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || [...text].length > charactersMax;
}

export function parseName(text: string): Result<string> {
  return isName(text) ? success(text) : failure(`is not 1 to ${nameCharactersMax} visible characters`);
}
