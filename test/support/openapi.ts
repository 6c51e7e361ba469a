/** Holds answers against the OpenAPI document that the service itself serves. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** One request and its answer, as far as the document speaks of them. */
export interface Exchange {
  readonly method: string;
  /** As sent, with its query string. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
  /** Answered before the request was one of any operation: broken HTTP, headers too large. */
  readonly connectionError?: boolean;
}

const documentUri = 'https://caller-stats.test/openapi.json';

/** Paths outside the interface that answer with something else than an error; the document leaves them out. */
const UNDOCUMENTED =
  /^\/($|docs($|\/)|openapi\.json$|api\/|assets\/|[\w-]+\.(js|svg|txt)$|(sign-in|set-up|join|reset|new-project|members|audit|account)$|projects\/)/;

/** What stands at the end of `path` inside a JSON value; undefined where something on the way is missing. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => entriesOf(inner).find(([key]) => key === name)?.[1], value);
}

/** The members of a JSON object; none of anything else. */
export function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

export class OpenApi {
  static readonly #known = new Map<string, OpenApi>();
  readonly document: unknown;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  /** What the paths of each template look like. */
  readonly #templates: readonly (readonly [template: string, paths: RegExp])[];

  constructor(document: object) {
    this.document = document;
    this.#ajv.addSchema(document, documentUri);
    this.#templates = entriesOf(at(document, 'paths')).map(([template]) => [
      template,
      new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
    ]);
  }

  /** Of a document's text. All tests of a file share what was compiled of the same document. */
  static of(text: string): OpenApi {
    const known = OpenApi.#known.get(text) ?? new OpenApi(JSON.parse(text) as object);
    OpenApi.#known.set(text, known);
    return known;
  }

  /** The template that the document has for a path, as `/v1/analytics/{projectId}/…`. */
  templateOf(path: string): string | undefined {
    const bare = path.replace(/^https?:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
    return this.#templates.find(([, paths]) => paths.test(bare))?.[0];
  }

  /** Throws where the value is not what the schema at this place of the document says, or has more members. */
  requireValid(value: unknown, ...place: readonly string[]): void {
    const validate = this.validator(place, { closed: true });
    if (!validate(value)) {
      const problems = this.#ajv.errorsText(validate.errors, { dataVar: 'body' });
      throw new Error(`${problems}, by ${place.join(' → ')}: ${JSON.stringify(value)}`);
    }
  }

  /** Checks values against the schema at this place; a closed one takes no members that the schema does not name. */
  validator(place: readonly string[], { closed = false } = {}): ValidateFunction {
    const pointer = place.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `${documentUri}#/${pointer.join('/')}`;
    const known = this.#validators.get(`${$ref} ${closed}`);
    const validate = known ?? this.#ajv.compile(closed ? { $ref, unevaluatedProperties: false } : { $ref });
    this.#validators.set(`${$ref} ${closed}`, validate);
    return validate;
  }

  /**
   * Throws where the answer is not one that the document promises: for an operation of the document a documented
   * status and its schema, for anything else the Error component. `HEAD` is its `GET` without a body.
   */
  check(exchange: Exchange): void {
    try {
      this.#check(exchange);
    } catch (error) {
      const { method, path, status, text } = exchange;
      const shown = `${method} ${path.slice(0, 200)} was answered ${status} ${text.slice(0, 500)}`;
      throw new Error(`${shown}: ${(error as Error).message}`, { cause: error });
    }
  }

  #check({ method, path: asked, status, contentType, text, connectionError }: Exchange): void {
    const path = this.below(asked);
    const operation = [
      'paths',
      this.templateOf(path) ?? '',
      method === 'HEAD' ? 'get' : method.toLowerCase(),
    ];
    const documented = !connectionError && at(this.document, ...operation) !== undefined;
    if (!documented && status < 400) {
      if (UNDOCUMENTED.test(path.replace(/[?#].*$/s, ''))) return;
      throw new Error('the document has no such operation, yet it was answered');
    }
    const schema = documented
      ? this.#schemaOf([...operation, 'responses', String(status)], contentType)
      : ['components', 'schemas', 'Error'];
    const isJson = contentType?.startsWith('application/json') === true;
    if (method !== 'HEAD') this.requireValid(isJson ? JSON.parse(text) : text, ...schema);
    else if (text !== '') throw new Error('the answer to HEAD has a body');
  }

  /** A path below that of the document's server; nothing the document knows for any other. */
  below(path: string): string {
    const [server] = (at(this.document, 'servers') ?? []) as { url: string }[];
    const base = server?.url.replace(/\/$/, '') ?? '';
    if (base === '') return path;
    return path.startsWith(base) ? path.slice(base.length).replace(/^(?!\/)/, '/') : '';
  }

  /** The place of a documented response's schema. */
  #schemaOf(response: readonly string[], contentType = ''): string[] {
    const content = [...response, 'content', contentType.replace(/;.*$/, '').trim()];
    for (const place of [response, content]) {
      if (at(this.document, ...place) === undefined)
        throw new Error(`the document has no ${place.join(' → ')}`);
    }
    return [...content, 'schema'];
  }
}
