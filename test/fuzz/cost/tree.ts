/** Values that are much larger than what is written of them, as JSON. They make up the bodies and parameters of requests. */

export type Tree =
  | null
  | boolean
  | number
  | string
  | Big
  | readonly Tree[]
  | { readonly [name: string]: Tree };

/** How a value becomes large. */
export const SHAPES = ['items', 'list', 'members', 'again', 'arrays', 'objects', 'text'] as const;
export type Shape = (typeof SHAPES)[number];

/**
 * In texts of a value that is repeated, `{i}` is its number and `{p}` the one before, in 8 hexadecimal digits: two of them make the id of
 * a span. `{r}` is the number of the request, `{n}` of the input.
 */
const OWN = '{i}';
const PREVIOUS = '{p}';
const eightDigits = (number: number) => number.toString(16).padStart(8, '0');

export class Big {
  readonly shape: Shape;
  readonly of: Tree;
  readonly count: number;
  /** What a text consists of. */
  readonly unit: string;

  constructor(shape: Shape, of: Tree, count: number, unit: string) {
    this.shape = shape;
    this.of = of;
    this.count = count;
    this.unit = unit;
  }
}

export class TooLarge extends Error {}

/** Characters of a body before it is compressed. */
export const textMax = 10_000_000;

/** Of an URL: servers refuse longer ones unread. */
const queryMax = 16_000;

export function numbered(text: string, number: number): string {
  return text.replaceAll(OWN, eightDigits(number)).replaceAll(PREVIOUS, eightDigits(number - 1));
}

export function isNumbered(text: string): boolean {
  return text.includes(OWN) || text.includes(PREVIOUS);
}

/** The value with the numbers of input and request in all its texts. */
export function inRequest(tree: Tree, input: number, request: number): Tree {
  const own = (text: string) =>
    text.replaceAll('{n}', eightDigits(input)).replaceAll('{r}', eightDigits(request));
  if (typeof tree === 'string') return own(tree);
  if (tree instanceof Big)
    return new Big(tree.shape, inRequest(tree.of, input, request), tree.count, own(tree.unit));
  if (Array.isArray(tree)) return (tree as readonly Tree[]).map((item) => inRequest(item, input, request));
  if (typeof tree !== 'object' || tree === null) return tree;
  const members = Object.entries(tree as Readonly<Record<string, Tree>>);
  return Object.fromEntries(members.map(([name, value]) => [name, inRequest(value, input, request)]));
}

/** The unit so often. A separator at its end stands only between two of them. */
export function longText({ unit, count }: Big): string {
  if (count + unit.length > textMax) throw new TooLarge();
  const text = unit.repeat(Math.max(1, Math.ceil(count / Math.max(1, unit.length))));
  return unit.length > 1 ? text.replace(/[;,\s]$/, '') : text;
}

function repeated(text: string, { count }: Big, separator: string): string {
  if (count * (text.length + 1) > textMax) throw new TooLarge();
  if (!isNumbered(text)) return text + `${separator}${text}`.repeat(Math.max(0, count - 1));
  return Array.from({ length: count }, (_, at) => numbered(text, at + 1)).join(separator);
}

/** The JSON of a value. Items of a list may be several, and so may members of an object. */
export function toJson(tree: Tree, separator = ','): string {
  if (tree instanceof Big) return bigToJson(tree, separator);
  if (Array.isArray(tree)) return `[${(tree as readonly Tree[]).map((item) => toJson(item)).join()}]`;
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree);
  const members = Object.entries(tree).map(([name, value]) => memberToJson(name, value));
  return `{${members.join()}}`;
}

function bigToJson(big: Big, separator: string): string {
  const { shape, of, count } = big;
  if (count > textMax) throw new TooLarge();
  switch (shape) {
    case 'items':
      return repeated(toJson(of), big, separator);
    case 'list':
      return `[${repeated(toJson(of), big, ',')}]`;
    case 'arrays':
      return `${'['.repeat(count)}${toJson(of)}${']'.repeat(count)}`;
    case 'objects':
      return `${'{"a":'.repeat(count)}${toJson(of)}${'}'.repeat(count)}`;
    case 'members':
    case 'again':
      return toJson(of);
    case 'text':
      return JSON.stringify(longText(big));
  }
}

function memberToJson(name: string, value: Tree): string {
  const isMany = value instanceof Big && (value.shape === 'members' || value.shape === 'again');
  const key = isMany && value.shape === 'members' ? `${name}${OWN}` : name;
  const member = `${JSON.stringify(key)}:${toJson(value)}`;
  return isMany ? repeated(member, value, ',') : member;
}

/** Lines of NDJSON. */
export function toLines(tree: Tree): string {
  return (Array.isArray(tree) ? (tree as readonly Tree[]) : [tree])
    .map((line) => toJson(line, '\n'))
    .join('\n');
}

/** Parameters of an URL. Text is sent as it is, anything else as JSON. */
export function toQuery(tree: Tree): string {
  if (typeof tree !== 'object' || tree === null || tree instanceof Big || Array.isArray(tree))
    return encodeURIComponent(toJson(tree));
  return Object.entries(tree as Readonly<Record<string, Tree>>)
    .map(([name, value]) => parameter(name, value))
    .join('&');
}

function parameter(name: string, value: Tree): string {
  if (value instanceof Big && value.count > queryMax) throw new TooLarge();
  if (value instanceof Big && (value.shape === 'members' || value.shape === 'again')) {
    const one = parameter(value.shape === 'members' ? `${name}${OWN}` : name, value.of);
    return repeated(one.replaceAll('%7Bi%7D', OWN), value, '&');
  }
  const text = value instanceof Big && value.shape === 'text' ? longText(value) : value;
  return `${name}=${encodeURIComponent(typeof text === 'string' ? (text.toWellFormed?.() ?? text) : toJson(text))}`;
}
