/** An input of the search: operations one after another, and what is done to their requests and the values in them. */
import type { Random } from '../random.js';
import { Big, SHAPES, type Shape, type Tree } from './tree.js';

export interface Edit {
  /** Through the values of the requests as they are: the position of the request, names of members, and positions of items. */
  readonly path: readonly string[];
  /** What the value becomes: another one, or a large one. */
  readonly shape: Shape | 'value';
  readonly count: number;
  readonly unit: Tree;
}

export interface Input {
  /** Names of operations, whose requests share a trace, a project and its rules. */
  readonly chain: readonly string[];
  readonly edits: readonly Edit[];
  readonly isPacked: boolean;
}

/** Texts that mean something to a parser, a rule or a range, or cost more than others. */
const TEXTS: readonly string[] = [
  ...[
    'x',
    ' ',
    '\n',
    '"',
    '\\',
    '\u0000',
    'é',
    '💥',
    '\ud800',
    '0',
    '9',
    '-',
    '.',
    ',',
    ';',
    '=',
    '/',
    '%',
    '<',
    '*',
    '\u0130',
  ],
  ...[
    'default;',
    'a=b;',
    'a=b,c;',
    'web',
    'https://*.a.b ',
    'http.route & a.b=c;',
    'name = value',
    'null',
    '1e308',
    '{i}',
    '{r}{i}',
  ],
  ...[
    '2000-01-01',
    '2026-01-01',
    '2026-12-31',
    '9999-12-31',
    '0000-01-01T00:00:00.000Z',
    '2026-06-01T00:00:00Z',
  ],
  ...[
    'hour',
    'day',
    'week',
    'month',
    'all',
    'last-12-months',
    'Europe/Berlin',
    'Africa/Casablanca',
    'previous',
    'previous-year',
    'caller',
  ],
  ...[
    'get_caller_stats',
    'get_caller_stats_series',
    'get_callers',
    'list_projects',
    'initialize',
    'tools/list',
  ],
  ...[
    'question',
    'trace',
    'span',
    'attribute:gen_ai.response.id',
    'service.name',
    'gen_ai.operation.name',
    'http.route',
    'user_agent.original',
  ],
];

/** Of spans, of traces, and of anything: its own, that of the one before, of the first one, one for each request, none. */
const IDS: readonly string[] = [
  ...['{r}{i}', '{r}{p}', '00000000000000ff', '{r}00000001', '{i}{i}', ''],
  ...['aaaaaaaa{r}', 'aaaaaaaa{i}', '{r}{i}'].map((end) => `{n}aaaaaaaa${end}`),
];

/** Between several of what a text has one of. */
const SEPARATORS: readonly string[] = [';', ',', ' ', '\n', ''];

const VALUES: readonly Tree[] = [
  null,
  true,
  0,
  1,
  2,
  3,
  5,
  -1,
  0.1,
  1e21,
  1e308,
  2 ** 53,
  1_700_000_000_000,
  [],
  {},
  [[]],
  { toString: 1, length: 1e9 },
];

/** Characters of such a list: settings have as many at most. */
const textCount = 1000;

/** A body is refused or read by its depth long before. */
const deepCount = 30_000;
/** So many of them are not too long. */
const manyDeep = 100;

const MANY = [10, 100, 1000];

/** Requests of one input. */
const REQUESTS = [2, 3, 5, 10];
export const requestsMax = 20;
const chainMax = 3;

const COUNTS = [2, 10, 100, 1000, 10_000, 100_000, 1_000_000, 4_000_000];

export function apply(tree: Tree, { path, ...edit }: Edit, depth = 0): Tree {
  if (tree instanceof Big && depth < path.length)
    return new Big(tree.shape, apply(tree.of, { path, ...edit }, depth), tree.count, tree.unit);
  const name = path[depth];
  if (name === undefined)
    return edit.shape === 'value' ? edit.unit : new Big(edit.shape, tree, edit.count, String(edit.unit));
  if (Array.isArray(tree))
    return (tree as readonly Tree[]).map((item, at) =>
      String(at) === name ? apply(item, { path, ...edit }, depth + 1) : item,
    );
  if (typeof tree !== 'object' || tree === null) return tree;
  const members = tree as Readonly<Record<string, Tree>>;
  return Object.hasOwn(members, name)
    ? { ...members, [name]: apply(members[name] ?? null, { path, ...edit }, depth + 1) }
    : tree;
}

/** The places of all requests and values. */
function pathsIn(tree: Tree, path: readonly string[] = []): (readonly string[])[] {
  const own = path.length === 0 ? [] : [path];
  if (typeof tree !== 'object' || tree === null || tree instanceof Big) return own;
  return [
    ...own,
    ...Object.entries(tree).flatMap(([name, value]) => pathsIn(value as Tree, [...path, name])),
  ];
}

function valueAt(tree: Tree, path: readonly string[]): Tree {
  return path.reduce<Tree>((value, name) => (value as Readonly<Record<string, Tree>>)[name] ?? null, tree);
}

/** What is most likely to be costly: many items, long texts, other ids, and lists of what is one. */
function usualShape(random: Random, tree: Tree, path: readonly string[]): Edit['shape'] {
  if (/^\d+$/.test(path.at(-1) ?? '')) return 'items';
  if (/Id$/.test(path.at(-1) ?? '')) return 'value';
  if (typeof valueAt(tree, path) === 'string') return random.pick(['text', 'text', 'value'] as const);
  return random.pick(['list', 'value'] as const);
}

export function randomEdit(random: Random, tree: Tree): Edit {
  const all = pathsIn(tree);
  const path = random.oneIn(8) ? (all[0] ?? []) : random.pick(all);
  if (path.length === 1) return { path, shape: 'items', count: random.pick(REQUESTS), unit: 'x' };
  const shape = random.oneIn(3) ? random.pick(SHAPES) : usualShape(random, tree, path);
  return { path, shape, count: random.pick(COUNTS), unit: randomUnit(random, shape, path, tree) };
}

function randomUnit(random: Random, shape: Edit['shape'], path: readonly string[], tree: Tree): Tree {
  const own = valueAt(tree, path);
  if (shape === 'text')
    return typeof own === 'string' && random.oneIn(2) ? own + random.pick(SEPARATORS) : random.pick(TEXTS);
  if (shape !== 'value') return 'x';
  if (/Id$/.test(path.at(-1) ?? '') && !random.oneIn(3)) return random.pick(IDS);
  return random.pick<Tree>(random.oneIn(2) ? TEXTS : VALUES);
}

/**
 * What is worth a try before all else: each value once as a large one, then nested, in many items if it is in one, then each text as a
 * list of itself, which something may read for each item of another list. Each step is in random order.
 */
export function firstEdits(random: Random, tree: Tree): (readonly Edit[])[] {
  const paths = pathsIn(tree).filter(({ length }) => length > 1);
  const texts = paths.filter((path) => typeof valueAt(tree, path) === 'string');
  const lists = (separators: readonly string[]) =>
    texts.flatMap((path) =>
      separators.map((separator): Edit => {
        return { path, shape: 'text', count: textCount, unit: `${String(valueAt(tree, path))}${separator}` };
      }),
    );
  const usual = SEPARATORS.slice(0, 2);
  const alone = (edit: Edit) => [edit];
  const steps: readonly (readonly (readonly Edit[])[])[] = [
    paths.flatMap((path) => largeOf(tree, path)).map(alone),
    [...texts.map(deepInMany), ...lists(usual).map(alone)],
    lists(SEPARATORS.slice(usual.length)).map(alone),
  ];
  return steps.flatMap((edits) => {
    const left = [...edits];
    return edits.flatMap(() => left.splice(random.int(left.length), 1));
  });
}

/** A parser may read a deep value in little time, and many of them in little space if they are compressed. */
function deepInMany(path: readonly string[]): Edit[] {
  const deep: Edit = { path, shape: 'arrays', count: deepCount, unit: 'x' };
  const item = path.findLastIndex((name, at) => at > 0 && at < path.length - 1 && /^\d+$/.test(name));
  if (item === -1) return [deep];
  return [deep, { path: path.slice(0, item + 1), shape: 'items', count: manyDeep, unit: 'x' }];
}

function largeOf(tree: Tree, path: readonly string[]): Edit[] {
  const large = (shape: Shape, count: number): Edit[] => [{ path, shape, count, unit: 'x' }];
  if (/^\d+$/.test(path.at(-1) ?? '')) return large('items', 10_000);
  if (typeof valueAt(tree, path) === 'string') return large('text', path[1] === 'query' ? 10_000 : 4_000_000);
  return path.length === 2 ? large('list', 100) : [];
}

/** Of what one of the edits changes, many: the items around it, or the requests. */
function manyOf(random: Random, { path }: Edit): Edit | undefined {
  const ends = path.flatMap((name, at) => (at < path.length - 1 && /^\d+$/.test(name) ? [at + 1] : []));
  if (ends.length === 0) return undefined;
  const around = path.slice(0, random.pick(ends));
  const counts = around.length === 1 ? REQUESTS : MANY;
  return { path: around, shape: 'items', count: random.pick(counts), unit: 'x' };
}

/** The input with one thing changed. */
export function mutate(random: Random, input: Input, tree: Tree, operations: readonly string[]): Input {
  const { edits } = input;
  const at = random.int(Math.max(1, edits.length));
  const changed = (change: (edit: Edit) => Edit) => ({
    ...input,
    edits: edits.map((edit, one) => (one === at ? change(edit) : edit)),
  });
  switch (random.weighted({ add: 4, many: 4, grow: 4, other: 2, less: 1, packed: 1, longer: 2 })) {
    case 'add':
      return { ...input, edits: [...edits, randomEdit(random, tree)].slice(-6) };
    case 'many': {
      const edit = edits[at];
      const many = edit === undefined ? undefined : manyOf(random, edit);
      return many === undefined ? input : { ...input, edits: [...edits, many].slice(-6) };
    }
    case 'grow':
      return changed((edit) => ({
        ...edit,
        count: Math.max(1, Math.round(edit.count * random.pick([0.3, 0.7, 1.5, 3, 10]))),
      }));
    case 'longer': {
      const next = random.oneIn(2) ? random.pick(input.chain) : random.pick(operations);
      return { ...input, chain: [...input.chain, next].slice(0, chainMax) };
    }
    case 'other':
      return changed((edit) => ({ ...randomEdit(random, tree), path: edit.path }));
    case 'less':
      return { ...input, edits: edits.filter((_, one) => one !== at) };
    case 'packed':
      return { ...input, isPacked: !input.isPacked };
  }
}

/** The input with less of what makes another one costly, if it has all of that: what else is costly shows beside it. */
export function without(input: Input, { chain, edits }: Input): Input {
  const isSame = (own: Edit, { path, shape, count }: Edit) =>
    own.shape === shape && own.path.join('/') === path.join('/') && own.count >= count / 4;
  const has = (edit: Edit) => input.edits.some((own) => isSame(own, edit));
  if (chain.some((name, at) => input.chain[at] !== name) || !edits.every(has)) return input;
  const less = (own: Edit) =>
    edits.some((edit) => isSame(own, edit)) ? { ...own, count: Math.ceil(own.count / 8) } : own;
  return { ...input, edits: input.edits.map(less) };
}

export function describe({ chain, edits, isPacked }: Input): string {
  const told = edits.map(({ path, shape, count, unit }) => {
    const what =
      shape === 'value'
        ? JSON.stringify(unit)
        : `${shape} × ${count}${shape === 'text' ? ` of ${JSON.stringify(unit)}` : ''}`;
    return `${path.join('/')}: ${what}`;
  });
  return `${chain.join(', then ')}${isPacked ? ', compressed' : ''}; ${told.join('; ')}`;
}
