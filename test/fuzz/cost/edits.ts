/** An input of the search: an operation, and what is done to the values of its requests. */
import type { Random } from '../random.js';
import { Big, SHAPES, type Shape, type Tree } from './tree.js';

export interface Edit {
  /** Through the values of the operation as it is: names of members, and positions of items. */
  readonly path: readonly string[];
  /** What the value becomes: another one, or a large one. */
  readonly shape: Shape | 'value';
  readonly count: number;
  readonly unit: Tree;
}

export interface Input {
  readonly operation: string;
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
    'name = value',
    'null',
    '1e308',
    '{i}',
    '{p}',
    '{i}{i}',
    '{p}{i}',
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

/** The places of all values, except of those that only hold the requests. */
export function pathsIn(tree: Tree, path: readonly string[] = []): (readonly string[])[] {
  const own = path.length < 2 ? [] : [path];
  if (typeof tree !== 'object' || tree === null || tree instanceof Big) return own;
  return [
    ...own,
    ...Object.entries(tree).flatMap(([name, value]) => pathsIn(value as Tree, [...path, name])),
  ];
}

function valueAt(tree: Tree, path: readonly string[]): Tree {
  return path.reduce<Tree>((value, name) => (value as Readonly<Record<string, Tree>>)[name] ?? null, tree);
}

/** What is most likely to be costly: long texts and many items. */
function usualShape(random: Random, tree: Tree, path: readonly string[]): Edit['shape'] {
  if (typeof valueAt(tree, path) === 'string') return random.pick(['text', 'text', 'value'] as const);
  return /^\d+$/.test(path.at(-1) ?? '') ? 'items' : 'value';
}

export function randomEdit(random: Random, tree: Tree): Edit {
  const path = random.pick(pathsIn(tree));
  const shape = random.oneIn(3) ? random.pick(SHAPES) : usualShape(random, tree, path);
  const isText = shape === 'text' || random.oneIn(2);
  const unit = isText ? random.pick(TEXTS) : shape === 'value' ? random.pick(VALUES) : 'x';
  return { path, shape, count: random.pick(COUNTS), unit };
}

/** The input with one thing changed, or two. */
export function mutate(random: Random, input: Input, tree: Tree): Input {
  const { edits } = input;
  const at = random.int(Math.max(1, edits.length));
  const changed = (change: (edit: Edit) => Edit) => ({
    ...input,
    edits: edits.map((edit, one) => (one === at ? change(edit) : edit)),
  });
  switch (random.weighted({ add: 4, grow: 4, other: 2, less: 1, packed: 1 })) {
    case 'add':
      return { ...input, edits: [...edits, randomEdit(random, tree)].slice(-6) };
    case 'grow':
      return changed((edit) => ({
        ...edit,
        count: Math.max(1, Math.round(edit.count * random.pick([0.3, 0.7, 1.5, 3, 10]))),
      }));
    case 'other':
      return changed((edit) => ({ ...randomEdit(random, tree), path: edit.path }));
    case 'less':
      return { ...input, edits: edits.filter((_, one) => one !== at) };
    case 'packed':
      return { ...input, isPacked: !input.isPacked };
  }
}

/** Whether the first one has everything that makes the second one costly. */
export function includes(input: Input, { operation, edits }: Input): boolean {
  const has = ({ path, shape, count }: Edit) =>
    input.edits.some(
      (own) => own.shape === shape && own.path.join('/') === path.join('/') && own.count >= count / 4,
    );
  return input.operation === operation && edits.every(has);
}

export function describe({ operation, edits, isPacked }: Input): string {
  const told = edits.map(({ path, shape, count, unit }) => {
    const what =
      shape === 'value'
        ? JSON.stringify(unit)
        : `${shape} × ${count}${shape === 'text' ? ` of ${JSON.stringify(unit)}` : ''}`;
    return `${path.join('/')}: ${what}`;
  });
  return `${operation}${isPacked ? ', compressed' : ''}; ${told.join('; ')}`;
}
