/** What holds for every answer, whatever was asked. */
import { at, type OpenApi } from '../support/openapi.js';
import type { FuzzAnswer } from './answers.js';
import type { Operation } from './operations.js';
import type { FuzzRequest } from './parts.js';

/** Of anything that is asked: what is said before a request is one of an operation, or when the server is too busy. */
const EVERYWHERE = new Set([400, 408, 413, 417, 431, 503]);

/** Of an operation's path with another method than those it has: which are asked for after the key. */
const OF_OTHER_METHODS = new Set([401, 403, 404, 405, 429]);

/** Of a path that is no operation: a file, whole, in part, unchanged or elsewhere, or nothing at all. */
const OF_OTHER_PATHS = new Set([200, 206, 302, 304, 308, 404, 405, 415, 416]);

/** Of the dashboard's API beside these. */
const OF_DASHBOARD = new Set([204, 401, 403, 409, 429]);

/** Without a key that works nobody learns more than this. */
const WITHOUT_KEY = new Set([400, 401, 417, 429, 431, 503]);

const ERROR = ['components', 'schemas', 'Error'] as const;

/** The headers that every answer has, and those that answers of a status have. */
const HEADERS: Readonly<Record<string, RegExp>> = {
  'content-security-policy': /^default-src '(none|self)';.*frame-ancestors 'none'/,
  'cross-origin-resource-policy': /^same-origin$/,
  'referrer-policy': /^no-referrer$/,
  'strict-transport-security': /^max-age=31536000$/,
  'x-content-type-options': /^nosniff$/,
  'x-frame-options': /^DENY$/,
};
const HEADERS_OF: Readonly<Record<number, readonly [name: string, value: RegExp]>> = {
  401: ['www-authenticate', /^(Bearer|Cookie)$/],
  405: ['allow', /^[A-Z]+(, [A-Z]+)*$/],
  429: ['retry-after', /^[1-9]\d*$/],
  503: ['retry-after', /^[1-9]\d*$/],
};

/** Words of stacks, of files, of the database: nothing of it may stand in an error. */
const INSIDES = /\n\s+at |node:internal|node_modules|\/dist\/|SQLITE|TypeError|\[object Object\]/;

export class Oracle {
  readonly #openApi: OpenApi;
  readonly #operations: ReadonlyMap<string | undefined, Operation>;
  readonly #secrets: readonly string[];

  constructor(openApi: OpenApi, operations: readonly Operation[], secrets: readonly string[]) {
    this.#openApi = openApi;
    this.#operations = new Map(operations.map((one) => [one.template, one]));
    this.#secrets = secrets;
  }

  /** The operation that the request reached, by its path alone; undefined where it is none of the document. */
  operationOf({ target }: Pick<FuzzRequest, 'target'>): Operation | undefined {
    return this.#operations.get(this.#openApi.templateOf(decoded(target)));
  }

  /** What is wrong with the answer; undefined where nothing is. */
  problemOf(request: FuzzRequest, answer: FuzzAnswer): string | undefined {
    try {
      const operation = this.operationOf(request);
      const text = answer.body.toString('utf8');
      return (
        expectationProblem(request, answer, operation) ??
        headersProblem(answer) ??
        this.#textProblem(request, answer, text) ??
        this.#documentProblem(request, answer, operation, text)
      );
    } catch (error) {
      return (error as Error).message;
    }
  }

  #textProblem({ method }: FuzzRequest, { status, headers }: FuzzAnswer, text: string): string | undefined {
    if (this.#secrets.some((secret) => text.includes(secret))) return 'a key is in its answer';
    if (status < 400) return undefined;
    const type = headers.get('content-type');
    if (type !== 'application/json; charset=utf-8') return `its error is of type ${type}`;
    if (INSIDES.test(text)) return 'its error shows insides of the service';
    if (method !== 'HEAD') this.#openApi.requireValid(JSON.parse(text), ...ERROR);
    return undefined;
  }

  #documentProblem(
    { method, target, cut }: FuzzRequest,
    { status, headers }: FuzzAnswer,
    operation: Operation | undefined,
    text: string,
  ): string | undefined {
    // What is broken may be no request of any operation, whatever it looks like.
    if (EVERYWHERE.has(status) || cut || method === 'CONNECT') return undefined;
    const path = decoded(target);
    const isOwn = operation !== undefined && (method === 'HEAD' ? 'GET' : method) === operation.method;
    if (!isOwn) {
      const allowed = operation === undefined ? OF_OTHER_PATHS : OF_OTHER_METHODS;
      const isDashboard = /^(https?:\/\/[^/]*)?\/api\//.test(path);
      if (allowed.has(status) || (isDashboard && OF_DASHBOARD.has(status))) return undefined;
      return `nothing documents ${status} for it`;
    }
    const place = ['paths', operation.template, operation.method.toLowerCase(), 'responses', String(status)];
    if (at(this.#openApi.document, ...place) === undefined) return `the document has no ${status} for it`;
    const contentType = headers.get('content-type');
    // The answers to protobuf are protobuf; errors were looked at.
    if (status >= 400 || method === 'HEAD' || contentType === 'application/x-protobuf') return undefined;
    this.#openApi.check({ method, path, status, contentType, text });
    return undefined;
  }
}

function expectationProblem(
  { mustSucceed, mustBeRefused, mustNotEnter }: FuzzRequest,
  { status, headers }: FuzzAnswer,
  operation: Operation | undefined,
): string | undefined {
  if (status === 500) return 'it is answered with 500';
  if (mustSucceed && status !== 200 && status !== 503) return `it is valid, and answered with ${status}`;
  if (mustBeRefused && (status < 400 || headers.get('connection') !== 'close'))
    return `it must be refused and its connection ended, and is answered with ${status}`;
  const isKeyed = operation !== undefined && operation.keys.length > 0;
  if (mustNotEnter && isKeyed && !WITHOUT_KEY.has(status))
    return `it has no key that works, and is answered with ${status}`;
  return undefined;
}

function headersProblem({ status, headers }: FuzzAnswer): string | undefined {
  for (const [name, pattern] of Object.entries(HEADERS)) {
    if (!pattern.test(headers.get(name) ?? ''))
      return `its answer has no right ${name}: ${headers.get(name)}`;
  }
  const [name, pattern] = HEADERS_OF[status] ?? [];
  return name !== undefined && pattern?.test(headers.get(name) ?? '') === false
    ? `its answer has no right ${name}: ${headers.get(name)}`
    : undefined;
}

/** The target with those characters decoded that mean the same either way (RFC 3986, section 2.3). */
function decoded(target: string): string {
  if (!target.includes('%')) return target;
  return target.replaceAll(/%(2d|2e|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
