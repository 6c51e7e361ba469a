/** Validates responses against the OpenAPI document that the service serves. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** A request and its response, as far as the document describes them. */
export interface Exchange {
  readonly method: string;
  /** As sent, with its query string. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
  /** The request never reached an operation: broken HTTP, headers too large. */
  readonly connectionError?: boolean;
}

const documentUri = 'https://caller-stats.test/openapi.json';

/** Paths that exist but are not part of the documented API. */
const UNDOCUMENTED =
  /^\/($|docs($|\/)|mcp\/$|openapi\.json$|api\/|assets\/|[\w-]+\.(ico|js|svg|txt)$|(sign-in|set-up|join|forgot|reset|new-project|members|audit|account|connect)$|oauth\/|\.well-known\/|projects($|\/)|share\/\w+(\.csv$|\/callers\.csv$|$))/;

/** The value at `path` inside a JSON value; undefined if there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name) => entriesOf(inner).find(([key]) => key === name)?.[1], value);
}

/** The members of a JSON object; an empty list for any other value. */
export function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** Whether this is the page that tells people, instead of programs, that there is nothing at an address. */
export function isMissingPage(status: number, contentType: string | undefined): boolean {
  return status === 404 && contentType === 'text/html; charset=utf-8';
}

export class OpenApi {
  static readonly #known = new Map<string, OpenApi>();
  readonly document: unknown;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  /** For each template, the paths that it matches. */
  readonly #templates: readonly (readonly [template: string, paths: RegExp])[];

  constructor(document: object) {
    this.document = document;
    this.#ajv.addSchema(document, documentUri);
    this.#templates = entriesOf(at(document, 'paths')).map(([template]) => [
      template,
      new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]*')}$`),
    ]);
  }

  /** Parses a document. All tests of a file share the compiled schemas of the same document. */
  static of(text: string): OpenApi {
    const known = OpenApi.#known.get(text) ?? new OpenApi(JSON.parse(text) as object);
    OpenApi.#known.set(text, known);
    return known;
  }

  /** The document's template for a path, such as `/v1/analytics/{projectId}/…`. */
  templateOf(path: string): string | undefined {
    const bare = path.replace(/^https?:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
    return this.#templates.find(([, paths]) => paths.test(bare))?.[0];
  }

  /** Throws if the value does not match the schema at this place of the document, or has undocumented members. */
  requireValid(value: unknown, ...place: readonly string[]): void {
    const validate = this.validator(place, { closed: true });
    if (!validate(value)) {
      const problems = this.#ajv.errorsText(validate.errors, { dataVar: 'body' });
      throw new Error(`${problems}, by ${place.join(' → ')}: ${JSON.stringify(value)}`);
    }
  }

  /** A validator for the schema at this place. With `closed`, undocumented members are errors. */
  validator(place: readonly string[], { closed = false } = {}): ValidateFunction {
    const pointer = place.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')));
    const $ref = `${documentUri}#/${pointer.join('/')}`;
    const known = this.#validators.get(`${$ref} ${closed}`);
    const validate = known ?? this.#ajv.compile(closed ? { $ref, unevaluatedProperties: false } : { $ref });
    this.#validators.set(`${$ref} ${closed}`, validate);
    return validate;
  }

  /**
   * Throws unless the response matches the document: for a documented operation, a documented status and its schema;
   * for anything else, the Error component, or with 404 a page. `HEAD` is checked as `GET` without a body.
   */
  check(exchange: Exchange): void {
    // RFC 6749, section 5.2.
    if (exchange.status === 400 && exchange.text.includes('"error_description"')) return;
    try {
      this.#check(exchange);
    } catch (error) {
      const { method, path, status, text } = exchange;
      const shown = `${method} ${path.slice(0, 200)} was answered ${status} ${text.slice(0, 500)}`;
      throw new Error(`${shown}: ${(error as Error).message}`, { cause: error });
    }
  }

  #check({ method, path: asked, status, contentType = '', text, connectionError }: Exchange): void {
    const path = this.below(asked);
    const operation = [
      'paths',
      this.templateOf(path) ?? '',
      method === 'HEAD' ? 'get' : method.toLowerCase(),
    ];
    const documented = !connectionError && at(this.document, ...operation) !== undefined;
    if (!documented && status < 400) {
      if (UNDOCUMENTED.test(path.replace(/[?#].*$/s, ''))) return;
      throw new Error('the operation is undocumented, yet it succeeded');
    }
    if (!documented && isMissingPage(status, contentType)) return;
    if (this.#needsNoSchema(operation, status, contentType, text)) return;
    const schema = documented
      ? this.#schemaOf([...operation, 'responses', String(status)], contentType)
      : ['components', 'schemas', 'Error'];
    const isJson = contentType.startsWith('application/json');
    if (method !== 'HEAD') this.requireValid(isJson ? JSON.parse(text) : text, ...schema);
    else if (text !== '') throw new Error('the response to HEAD has a body');
  }

  /** Whether a response is documented without a schema: as empty, or as CSV in the description of the operation. */
  #needsNoSchema(operation: readonly string[], status: number, contentType: string, text: string): boolean {
    const response = at(this.document, ...operation, 'responses', String(status));
    if (text === '' && response !== undefined && at(response, 'content') === undefined) return true;
    if (!contentType.startsWith('text/csv') || at(response, 'content', 'text/csv') !== undefined)
      return false;
    return String(at(this.document, ...operation, 'description')).includes('`Accept: text/csv`');
  }

  /** The path relative to the document's server; empty if it is outside of it. */
  below(path: string): string {
    const [server] = (at(this.document, 'servers') ?? []) as { url: string }[];
    const base = server?.url.replace(/\/$/, '') ?? '';
    if (base === '' || path.startsWith('/.well-known/')) return path;
    return path.startsWith(base) ? path.slice(base.length).replace(/^(?!\/)/, '/') : '';
  }

  /** Where the schema of a documented response is. */
  #schemaOf(response: readonly string[], contentType = ''): string[] {
    const content = [...response, 'content', contentType.replace(/;.*$/, '').trim()];
    for (const place of [response, content]) {
      if (at(this.document, ...place) === undefined)
        throw new Error(`the document has no ${place.join(' → ')}`);
    }
    return [...content, 'schema'];
  }
}
