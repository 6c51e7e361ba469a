/** The parts of the server's OpenAPI document that the page shows, and the requests that its forms make. */
import { quote } from '../../format/curl.js';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

export interface OpenApiDocument {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** A body to begin with; undefined if the operation takes none. */
  readonly sampleBody: string | undefined;
  /** The kinds of keys that it takes, the most fitting first: `adminKey`, `recordingKey`. */
  readonly keys: readonly string[];
}

/** The operations of each tag, in the document's order. */
export function listOperations(document: OpenApiDocument): Map<string, Operation[]> {
  const groups = new Map((document.tags ?? []).map(({ name }) => [name, [] as Operation[]]));
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const body = operation.requestBody?.content['application/json'];
      groups.get(operation.tags?.[0] ?? '')?.push({
        ...operation,
        method: method.toUpperCase(),
        path,
        parameters: operation.parameters ?? [],
        sampleBody: body && JSON.stringify(sampleOf(body.schema, document), null, 2),
        keys: (operation.security ?? []).flatMap((scheme) => Object.keys(scheme)),
      });
    }
  }
  return groups;
}

/** A value of the schema with nothing optional. */
function sampleOf(schema: Schema, document: OpenApiDocument): unknown {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return sampleOf(document.components.schemas[name] ?? {}, document);
  }
  const given = schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
  if (given !== undefined) return given;
  if (schema.anyOf?.[0] !== undefined) return sampleOf(schema.anyOf[0], document);
  if (schema.type === 'array') return schema.items === undefined ? [] : [sampleOf(schema.items, document)];
  if (schema.type === 'integer') return 1;
  if (schema.type === 'string') return '';
  const { properties = {}, required = Object.keys(properties) } = schema;
  return Object.fromEntries(
    required.map((name) => [name, sampleOf(properties[name] ?? {}, document)] as const),
  );
}

/** What is in the form of an operation, by the names of its parameters. */
export type Values = Readonly<Record<string, string>>;

export interface Call {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The request of a form; parameters that are empty are left out. `key` is empty for none. */
export function toCall(
  { method, path, parameters, sampleBody, keys }: Operation,
  { server, values, body, key }: { server: string; values: Values; body: string; key: string },
): Call {
  const given = parameters.filter(({ name }) => (values[name] ?? '') !== '');
  const valuesIn = (place: Parameter['in']) =>
    given.filter((one) => one.in === place).map(({ name }) => [name, values[name] ?? ''] as const);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const query = new URLSearchParams(valuesIn('query').map(([name, value]) => [name, value])).toString();
  return {
    method,
    url: `${server}${filled}${query === '' ? '' : `?${query}`}`,
    headers: {
      accept: 'application/json',
      ...Object.fromEntries(valuesIn('header')),
      ...(keys.length === 0 || key === '' ? {} : { authorization: `Bearer ${key}` }),
      ...(sampleBody === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: sampleBody === undefined ? undefined : body,
  };
}

/** The same request as a command, with the key in an environment variable. */
export function toCurl({ method, url, headers, body }: Call, keys: readonly string[]): string {
  const variable = keys[0] === 'recordingKey' ? '$RECORDING_KEY' : '$ADMIN_KEY';
  const { accept, authorization, ...others } = headers;
  return [
    `curl${method === 'GET' || body !== undefined ? '' : ` --request ${method}`} ${quote(url)}`,
    ...(keys.length === 0 ? [] : [`--header "Authorization: Bearer ${variable}"`]),
    ...Object.entries(others).map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quote(body)}`]),
  ].join(' \\\n  ');
}
