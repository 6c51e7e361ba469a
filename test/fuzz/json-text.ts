/** JSON as text: one of the many ways to write a value, and what is nearly JSON. */
import type { Random } from './random.js';

/** A valid text of the value, with white space and escapes where they are allowed. */
export function jsonOf(value: unknown, random: Random): string {
  if (random.oneIn(2)) return JSON.stringify(value);
  const gap = (): string => (random.oneIn(4) ? random.pick([' ', '\n', '\t', '\r\n', '  ']) : '');
  const write = (one: unknown): string => {
    if (typeof one === 'string') return stringOf(one, random);
    if (Array.isArray(one)) return `[${gap()}${one.map(write).join(`${gap()},${gap()}`)}${gap()}]`;
    if (typeof one !== 'object' || one === null) return JSON.stringify(one);
    const members = Object.entries(one).map(
      ([name, inner]) => `${stringOf(name, random)}${gap()}:${gap()}${write(inner)}`,
    );
    return `{${gap()}${members.join(`${gap()},${gap()}`)}${gap()}}`;
  };
  return `${gap()}${write(value)}${gap()}`;
}

function stringOf(text: string, random: Random): string {
  if (random.oneIn(2) || text === '') return JSON.stringify(text);
  const at = random.int(text.length);
  const inside = (part: string): string => JSON.stringify(part).slice(1, -1);
  const code = text.charCodeAt(at).toString(16).padStart(4, '0');
  const escaped = `\\u${random.oneIn(2) ? code : code.toUpperCase()}`;
  // Beside an escape, the other half of a pair is escaped by JSON.stringify as well.
  return `"${inside(text.slice(0, at))}${escaped}${inside(text.slice(at + 1))}"`;
}

/** What stands where a value should, or is one that nobody expects. */
export const ODD_JSON: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '1e400',
  '-1e400',
  '1e-400',
  '123456789012345678901234567890',
  '0.1e1',
  '""',
  '[]',
  '{}',
  '[[]]',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\u2028"',
  '{"":""}',
  '{"__proto__":{}}',
  '{"constructor":{"prototype":{}}}',
  '{"toString":1}',
  '[1,]',
  '{,}',
  '{"a":1,}',
  '01',
  '+1',
  '.5',
  '1.',
  'NaN',
  'Infinity',
  'undefined',
  "'a'",
  '{a:1}',
  '/* a */1',
  '// a\n1',
  '"\t"',
  '"\\x41"',
  '"\\u12"',
  '"',
  '[',
  '{',
  '{"a"',
  '{"a":',
  ']',
  '}',
  '1 2',
  '"a" "b"',
  'tru',
  'nul',
  'TRUE',
  '\u00a01',
  '\ufeff1',
  '-',
  '--1',
  '1e',
  '0x1',
  '"\\',
  '\u0000',
];

/** The text with something done to it that mostly makes it something else than JSON. */
export function nearlyJson(text: string, random: Random): Buffer {
  const at = random.int(text.length + 1);
  const end = at + 1 + random.int(4);
  const [before, inside, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (
    random.weighted({
      cut: 4,
      drop: 3,
      twice: 3,
      odd: 4,
      bytes: 3,
      utf16: 1,
      latin1: 1,
      mark: 1,
      deep: 1,
      empty: 1,
    })
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
      return Buffer.concat([Buffer.from(before), random.pick(BROKEN_UTF8), Buffer.from(after)]);
    case 'utf16':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'latin1':
      return Buffer.from(text, 'latin1');
    case 'mark':
      return Buffer.from(`\ufeff${text}`);
    case 'deep':
      return Buffer.from(nested(random));
    case 'empty':
      return Buffer.alloc(0);
  }
}

/** What is no UTF-8: a byte alone, an overlong form, half a pair, beyond the last character, one that is cut. */
const BROKEN_UTF8: readonly Buffer[] = [
  [0xff],
  [0x80],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe2, 0x82],
  [0xfe, 0xff],
  [0x00],
].map((bytes) => Buffer.from(bytes));

function nested(random: Random): string {
  const levels = random.pick([10, 64, 65, 1000, 20_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['[{"id":', '}]'],
  ] as const);
  return open.repeat(levels) + random.pick(ODD_JSON) + (random.oneIn(2) ? close.repeat(levels) : '');
}
