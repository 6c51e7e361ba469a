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

Every operation with its parameters, bodies and answers, generated from the OpenAPI document that a server has at \`/openapi.json\`. Try
the operations with a key at \`/docs/try\`. [Operations over HTTP](http.md) explains ranges, series and callers, and
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
  const groups = tags.flatMap(({ name, description }) => [
    `## ${name}`,
    text(description),
    ...all.filter(({ operation }) => operation.tags[0] === name).flatMap(operationPart),
  ]);
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    `### ${name}`,
    ...(schema.description === undefined ? [] : [text(schema.description)]),
    ...fields(schema),
  ]);
  return `${[INTRODUCTION, ...groups, '## Schemas', ...schemas].join('\n\n')}\n`;
}

function operationPart(one: { path: string; method: string; operation: Operation }): string[] {
  const { summary, description, security = [], parameters = [], requestBody, responses } = one.operation;
  const keys = security.flatMap((scheme) => Object.keys(scheme)).map((name) => KEYS[name] ?? name);
  return [
    `### ${summary}`,
    `\`${one.method.toUpperCase()} ${one.path}\`, with ${keys.length === 0 ? 'no key' : keys.join(' or ')}.`,
    ...(description === undefined ? [] : [text(description)]),
    ...(parameters.length === 0
      ? []
      : [
          table(
            ['parameter', 'in', 'what it is'],
            parameters.map(({ name, in: place, required, description: what, schema }) => [
              `\`${name}\``,
              required ? `${place}, required` : place,
              join(type(schema), what),
            ]),
          ),
        ]),
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
  return what === undefined ? kind : `${kind}. ${cell(what)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
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
