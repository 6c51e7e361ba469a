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
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const INTRODUCTION = `# API

Every operation with its parameters, bodies and answers, in short. A server has the whole descriptions in its OpenAPI document, at
\`/openapi.json\`, and lets you try the operations at \`/docs/try\`. [Operations over HTTP](http.md) explains ranges, series and callers, and
[Record over HTTP](../guides/record/record.md) the fields of a query.`;

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
  const shared = sharedRows(all.map(({ operation }) => operation));
  const groups = tags.flatMap(({ name, description }) => [
    `## ${name}`,
    text(description),
    ...all.filter(({ operation }) => operation.tags[0] === name).flatMap((one) => operationPart(one, shared)),
  ]);
  const parameters = ['## Parameters of several operations', table(PARAMETER_HEAD, [...shared.values()])];
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    `### ${name}`,
    ...(schema.description === undefined ? [] : [text(firstSentence(schema.description))]),
    ...fields(schema),
  ]);
  return `${[INTRODUCTION, ...groups, ...parameters, '## Schemas', ...schemas].join('\n\n')}\n`;
}

const PARAMETER_HEAD = ['parameter', 'in', 'what it is'];

type Parameter = NonNullable<Operation['parameters']>[number];

function parameterRow({ name, in: place, required, description, schema }: Parameter): string[] {
  return [`\`${name}\``, required ? `${place}, required` : place, join(type(schema), description)];
}

/** The rows of parameters that mean the same in three operations or more, by what they say. They are on the page once. */
function sharedRows(operations: readonly Operation[]): ReadonlyMap<string, string[]> {
  const rows = operations.flatMap(({ parameters = [] }) => parameters.map(parameterRow));
  const count = (row: readonly string[]) => rows.filter((one) => one.join() === row.join()).length;
  return new Map(rows.filter((row) => count(row) >= 3).map((row) => [row.join(), row]));
}

/** The parameters of an operation: the shared ones by name, and a table of its own. */
function parameterPart(parameters: readonly Parameter[], shared: ReadonlyMap<string, string[]>): string[] {
  const rows = parameters.map(parameterRow);
  const [known, own] = [true, false].map((is) => rows.filter((row) => shared.has(row.join()) === is));
  const names = (known ?? []).map(([name]) => name).join(', ');
  return [
    ...(names === '' ? [] : [`[Parameters](#parameters-of-several-operations): ${names}.`]),
    ...(own === undefined || own.length === 0 ? [] : [table(PARAMETER_HEAD, own)]),
  ];
}

function operationPart(
  one: { path: string; method: string; operation: Operation },
  shared: ReadonlyMap<string, string[]>,
): string[] {
  const { summary, description, security = [], parameters = [], requestBody, responses } = one.operation;
  const keys = security.flatMap((scheme) => Object.keys(scheme)).map((name) => KEYS[name] ?? name);
  return [
    `### ${summary}`,
    `\`${one.method.toUpperCase()} ${one.path}\`, with ${keys.length === 0 ? 'no key' : keys.join(' or ')}.`,
    ...(description === undefined ? [] : [text(firstSentence(description))]),
    ...parameterPart(parameters, shared),
    ...(requestBody === undefined
      ? []
      : [table(['body', 'what it is'], Object.entries(requestBody.content).map(bodyRow))]),
    table(
      ['status', 'when', 'body'],
      Object.entries(responses)
        .filter(([status]) => status < '400')
        .map(([status, { description: when, content = {} }]) => [
          `\`${status}\``,
          cell(when),
          Object.entries(content)
            .map(([media, { schema }]) => `\`${media}\`: ${type(schema ?? {})}`)
            .join('; '),
        ]),
    ),
    `[Errors](errors.md): ${Object.keys(responses)
      .filter((status) => status >= '400')
      .map((status) => `\`${status}\``)
      .join(', ')}.`,
  ];
}

function bodyRow([media, { schema = {} }]: [string, { schema?: Schema }]): string[] {
  return [`\`${media}\``, join(type(schema), schema.description)];
}

function fields({ required = [], properties = {} }: Schema): string[] {
  const rows = Object.entries(properties).map(([name, schema]) => [
    `\`${name}\``,
    required.includes(name) ? 'yes' : 'no',
    join(type(schema), schema.description),
  ]);
  return rows.length === 0 ? [] : [table(['field', 'always there', 'what it is'], rows)];
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
  if (schema.enum !== undefined) return schema.enum.map((one) => `\`${one}\``).join(', ') + rest(schema);
  if (items !== undefined) return `list of ${type(items)}${rest(schema)}`;
  if (schema.properties !== undefined) {
    const inner = Object.entries(schema.properties).map(([name, one]) => `\`${name}\`: ${type(one)}`);
    return `object (${inner.join('; ')})`;
  }
  return [schema.type ?? 'any'].flat().join(' or ') + rest(schema);
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
    minimum === undefined ? undefined : `from ${minimum}`,
    maximum === undefined ? undefined : `to ${maximum}`,
    minLength === undefined ? undefined : minLength === 1 ? 'not empty' : `${minLength} characters or more`,
    maxLength === undefined ? undefined : `at most ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems}`,
    otherwise === undefined ? undefined : `default \`${otherwise}\``,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? '' : `, ${words.join(', ')}`;
}

function join(kind: string, what: string | undefined): string {
  return what === undefined ? kind : `${kind}. ${cell(firstSentence(what))}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** The rest is in the OpenAPI document, and on the pages about the subject. */
function firstSentence(words: string): string {
  return /^.*?[.](?= |$)/s.exec(words)?.[0] ?? words;
}

/** Escapes text for a table cell. */
function cell(words: string): string {
  return text(words).replaceAll('|', '\\|');
}

/** Escapes Markdown outside code spans. */
function text(words: string): string {
  return words
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('*', '\\*')))
    .join('')
    .replaceAll(/\s+/g, ' ');
}
