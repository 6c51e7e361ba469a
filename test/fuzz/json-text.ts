/** Writes JSON in many ways, and texts that are almost JSON. */
import { words } from '../support/words.js';
import type { Random } from './random.js';

/** Writes the value as valid JSON, with white space and escapes where they are allowed. */
export function writeJson(value: unknown, random: Random): string {
  if (random.oneIn(2)) return JSON.stringify(value);
  const gap = (): string => (random.oneIn(4) ? random.pick([' ', '\n', '\t', '\r\n', '  ']) : '');
  const write = (one: unknown): string => {
    if (typeof one === 'string') return writeString(one, random);
    if (Array.isArray(one)) return `[${gap()}${one.map(write).join(`${gap()},${gap()}`)}${gap()}]`;
    if (typeof one !== 'object' || one === null) return JSON.stringify(one);
    const members = Object.entries(one).map(
      ([name, inner]) => `${writeString(name, random)}${gap()}:${gap()}${write(inner)}`,
    );
    return `{${gap()}${members.join(`${gap()},${gap()}`)}${gap()}}`;
  };
  return `${gap()}${write(value)}${gap()}`;
}

function writeString(text: string, random: Random): string {
  if (random.oneIn(2) || text === '') return JSON.stringify(text);
  const at = random.int(text.length);
  const inside = (part: string): string => JSON.stringify(part).slice(1, -1);
  const code = text.charCodeAt(at).toString(16).padStart(4, '0');
  const escaped = `\\u${random.oneIn(2) ? code : code.toUpperCase()}`;
  // If this cuts a surrogate pair, JSON.stringify escapes the other half.
  return `"${inside(text.slice(0, at))}${escaped}${inside(text.slice(at + 1))}"`;
}

/** JSON values that few clients send. */
const UNUSUAL_JSON = words(String.raw`
  null true 0 -0 1e400 -1e400 1e-400 123456789012345678901234567890 0.1e1 "" [] {} [[]]
  "\u0000" "\ud800" "\udc00\ud800" "\ud83d\ude00" "\u2028"
  {"":""} {"__proto__":{}} {"constructor":{"prototype":{}}} {"toString":1}
`);

/** Texts that are not JSON, after the kinds of the JSONTestSuite. */
export const INVALID_JSON: readonly string[] = [
  ...words(String.raw`
    [1,] [,1] [1,,2] [ ] [1 [1} { } {"id" {"id": {"id":"a" {"id":"a",} {,} {"id"::"a"} {'id':'a'} {id:"a"}
    {1:1} {null:1} {"id":"a"}} {}{} [][] {"id":"a"}# tru nul nulll True TRUE undefined NaN -NaN Infinity -Infinity
    - --1 +1 01 -01 1. .5 -.5 1e 1e+ 1E- 0x1 0b1 1_000 1,000 １ 'a' "a " "\ "\" "\x41" "\a" "\u" "\u12" "\u12g4"
    "\U0041" [/**/] [undefined] [1n] “a” <a/> a=b (1) [1;2] [...[]]
  `),
  '',
  ' ',
  '[1 2]',
  '{"id" "a"}',
  '{"id":"a" "caller":"web"}',
  '"\\ "',
  ...['\t', '\n', '\r', '\0', '\x1f'].map((control) => `"${control}"`),
  '[]\0',
  '\0',
  '// a\n[]',
  '[] // a',
  '/* a */ []',
  '# a\n[]',
  // White space that JSON does not allow.
  ...['\u00a0', '\u2028', '\u3000', '\v', '\f', '\ufeff\ufeff'].map((space) => `${space}[]`),
  '[\ufeff]',
  '[]\ufeff',
  '[new Date()]',
  '`a`',
  '---\n- a',
  '['.repeat(5000),
  '{"a":'.repeat(5000),
  `[${'"a",'.repeat(1000)}]`,
];

export const ODD_JSON: readonly string[] = [...UNUSUAL_JSON, ...INVALID_JSON];

/** Changes the text in a way that usually makes it invalid JSON. */
export function breakJson(text: string, random: Random): Buffer {
  const at = random.int(text.length + 1);
  const end = at + 1 + random.int(4);
  const [before, inside, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (
    random.weighted({ cut: 4, drop: 3, twice: 3, odd: 4, bytes: 3, utf16: 1, latin1: 1, mark: 1, deep: 1 })
  ) {
    case 'cut':
      return Buffer.from(before);
    case 'drop':
      return Buffer.from(before + after);
    case 'twice':
      return Buffer.from(before + inside + inside + after);
    case 'odd':
      return Buffer.from(before + random.pick(ODD_JSON) + after);
    case 'bytes':
      return Buffer.concat([Buffer.from(before), random.pick(INVALID_UTF8), Buffer.from(after)]);
    case 'utf16':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'latin1':
      return Buffer.from(text, 'latin1');
    case 'mark':
      return Buffer.from(`\ufeff${text}`);
    case 'deep':
      return Buffer.from(deepJson(random));
  }
}

/** Bytes that are not UTF-8: single bytes, overlong forms, surrogates, code points that are too large, cut characters. */
export const INVALID_UTF8: readonly Buffer[] = words(`
  80 bf c080 c1bf c3 e08080 e282 eda080 edbfbf f0808080 f09f98 f4908080 f5808080 f888808080 fe ff
`).map((hex) => Buffer.from(hex, 'hex'));

function deepJson(random: Random): string {
  const levels = random.pick([10, 64, 65, 1000, 20_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"id":', '}]'],
  ] as const);
  return open.repeat(levels) + random.pick(ODD_JSON) + (random.oneIn(2) ? close.repeat(levels) : '');
}
