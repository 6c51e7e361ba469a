/** The API page, generated from the service's OpenAPI document. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

/** The part of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const INTRODUCTION = `# API

Every operation in short. A server has the whole descriptions in its OpenAPI document, at \`/openapi.json\`, and lets you try the operations at
\`/docs/try\`. [Read over HTTP](../guides/read/reading.md#read-over-http) explains the answers, [Time](../concepts/time.md) the ranges, and [Errors](errors.md) the rest. What is
not marked as optional is always there. What has no type is a string, except within an object.`;

const KEYS: Readonly<Record<string, string>> = {
  adminKey: 'an admin key',
  readingKey: 'a reading key',
  recordingKey: 'a recording key',
};

/** The page in Markdown. */
export function apiPage({ tags, paths, components }: ApiDocument): string {
  const all = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  const shared = sharedLines(all.map(({ operation }) => operation));
  const groups = tags.flatMap(({ name }) => [
    `## ${name}`,
    ...all.filter(({ operation }) => operation.tags[0] === name).flatMap((one) => operationPart(one, shared)),
  ]);
  const parameters = ['## Parameters of several operations', [...shared].join('\n')];
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    `### ${name}`,
    ...(schema.description === undefined ? [] : [text(firstSentence(schema.description))]),
    ...fields(schema),
  ]);
  return `${[INTRODUCTION, ...groups, ...parameters, '## Schemas', ...schemas].join('\n\n')}\n`;
}

type Parameter = NonNullable<Operation['parameters']>[number];

function parameterLine({ name, in: place, required, description, schema }: Parameter): string {
  return `- \`${name}\`${place === 'query' ? '' : ` (${place})`}${required ? ', required' : ''}: ${join(type(schema), description)}`;
}

/** The lines of parameters that mean the same in three operations or more. They are on the page once. */
function sharedLines(operations: readonly Operation[]): ReadonlySet<string> {
  const lines = operations.flatMap(({ parameters = [] }) => parameters.map(parameterLine));
  return new Set(lines.filter((line) => lines.filter((one) => one === line).length >= 3));
}

function operationPart(
  one: { path: string; method: string; operation: Operation },
  shared: ReadonlySet<string>,
): string[] {
  const { summary, description, security = [], parameters = [], requestBody, responses } = one.operation;
  const keys = security.flatMap((scheme) => Object.keys(scheme)).map((name) => KEYS[name] ?? name);
  const named = parameters.map((one) => ({ name: `\`${one.name}\``, line: parameterLine(one) }));
  // The address above shows those of the path.
  const known = named
    .filter(({ name, line }) => shared.has(line) && !line.startsWith(`- ${name} (path)`))
    .map(({ name }) => name);
  const answers = Object.entries(responses).filter(([status]) => status < '400');
  return [
    `### ${summary}`,
    `\`${one.method.toUpperCase()} ${one.path}\`, with ${keys.length === 0 ? 'no key' : keys.join(' or ')}.`,
    ...(description === undefined ? [] : [text(firstSentence(description))]),
    ...(known.length === 0 ? [] : [`[Parameters](#parameters-of-several-operations): ${known.join(', ')}.`]),
    [
      ...named.flatMap(({ line }) => (shared.has(line) ? [] : [line])),
      ...Object.entries(requestBody?.content ?? {}).map(bodyLine),
      ...answers.map(([status, { description: when, content = {} }]) => answerLine(status, when, content)),
    ].join('\n'),
  ];
}

function bodyLine([media, { schema = {} }]: [string, { schema?: Schema }]): string {
  return `- Body, \`${media}\`: ${join(type(schema), schema.description)}`;
}

function answerLine(status: string, when: string, content: Content): string {
  const bodies = Object.entries(content).map(([media, { schema = {} }]) =>
    media === 'application/json' ? type(schema) : `\`${media}\``,
  );
  return `- \`${status}\`: ${[text(when), ...bodies].join(' ')}`;
}

function fields({ required = [], properties = {} }: Schema): string[] {
  const lines = Object.entries(properties).map(
    ([name, schema]) =>
      `- \`${name}\`${required.includes(name) ? '' : ', optional'}: ${join(type(schema), schema.description)}`,
  );
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** The type of a value in a few words. */
function type(schema: Schema): string {
  const { $ref, items, anyOf, oneOf, const: only } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return choices.map(type).join(' or ');
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (schema.enum !== undefined) return values(schema.enum) + rest(schema);
  if (items !== undefined) return `list of ${type(items)}${rest(schema)}`;
  if (schema.properties !== undefined) {
    // Their types are in the OpenAPI document.
    const names = Object.keys(schema.properties).map((name) => `\`${name}\``);
    return `object (${names.join(', ')})`;
  }
  return [schema.type ?? 'any'].flat().join(' or ') + rest(schema);
}

/** Of a long list, which a guide explains value by value, the first ones. */
function values(all: readonly unknown[]): string {
  const shown = all.length > 12 ? all.slice(0, 3) : all;
  const more = all.length > shown.length ? ` or one of ${all.length - shown.length} others` : '';
  return shown.map((one) => `\`${one}\``).join(', ') + more;
}

/** Limits and defaults. */
function rest({
  format,
  minimum,
  maximum,
  minLength,
  maxLength,
  maxItems,
  default: otherwise,
}: Schema): string {
  const words = [
    format,
    minimum === undefined || minimum === 0 ? undefined : `from ${minimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    minLength === undefined ? undefined : minLength === 1 ? 'not empty' : `${minLength} characters or more`,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems}`,
    otherwise === undefined ? undefined : `default \`${otherwise}\``,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? '' : `, ${words.join(', ')}`;
}

/** A value is a text unless its type says otherwise. */
function join(kind: string, what: string | undefined): string {
  if (what === undefined) return kind;
  return kind === 'string' ? text(firstSentence(what)) : `${kind}. ${text(firstSentence(what))}`;
}

/** The rest is in the OpenAPI document, and on the pages about the subject. */
function firstSentence(words: string): string {
  return /^.*?[.](?= |$)/s.exec(words)?.[0] ?? words;
}

/** Escapes Markdown outside code spans. */
function text(words: string): string {
  return words
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('*', '\\*')))
    .join('')
    .replaceAll(/\s+/g, ' ');
}
