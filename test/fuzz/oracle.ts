/** Rules that every response must follow. */
import { at, isMissingPage, type OpenApi } from '../support/http/openapi.js';
import { PROTOBUF } from '../support/http/telemetry.js';
import type { RawResponse } from '../support/response-reader.js';
import type { Operation } from './operations.js';
import type { FuzzRequest } from './parts.js';

/** Statuses of any request: errors that are found before routing, and overload. */
const ANY_REQUEST = new Set([400, 408, 413, 417, 431, 503]);

/** Statuses of an operation's path with another method. The key is checked first. */
const OTHER_METHOD = new Set([401, 403, 404, 405, 429]);

/** Statuses of paths outside the OpenAPI document: files, redirects and errors. */
const OTHER_PATH = new Set([200, 206, 302, 304, 308, 404, 405, 415, 416]);

/** More statuses of the dashboard's API, and of what applications that people connect use. */
const DASHBOARD = new Set([201, 204, 401, 403, 409, 429]);

/** Statuses of an operation without a valid key. */
const WITHOUT_KEY = new Set([400, 401, 417, 429, 431, 503]);

const OTLP = /^\/v1\/(?:traces|logs|metrics)$/;

/** What the Model Context Protocol refuses has an error of its own. */
const TOOL_MESSAGE = ['components', 'schemas', 'ToolMessage'] as const;

/** What applications are refused has the form of RFC 6749, section 5.2. */
const OAUTH_ERROR = /^\{"error":"[a-z_]+","error_description":"[^"\\]+"\}$/;

const ERROR = ['components', 'schemas', 'Error'] as const;

/** The headers of every response, and those of some statuses. */
const HEADERS: Readonly<Record<string, RegExp>> = {
  'content-security-policy': /^default-src '(none|self)';.*frame-ancestors 'none'/,
  'cross-origin-resource-policy': /^same-origin$/,
  'referrer-policy': /^no-referrer$/,
  'x-content-type-options': /^nosniff$/,
  'x-frame-options': /^DENY$/,
};
const HEADERS_BY_STATUS: Readonly<Record<number, readonly [name: string, value: RegExp]>> = {
  401: ['www-authenticate', /^(Bearer|Cookie|Bearer resource_metadata="\S+"(, error="invalid_token")?)$/],
  405: ['allow', /^[A-Z]+(, [A-Z]+)*$/],
  429: ['retry-after', /^[1-9]\d*$/],
  503: ['retry-after', /^[1-9]\d*$/],
};

/** Stack traces, file names and database errors, which no error may contain. */
const INTERNALS = /\n\s+at |node:internal|node_modules|\/dist\/|SQLITE|TypeError|\[object Object\]/;

export class Oracle {
  readonly #openApi: OpenApi;
  readonly #operations: readonly Operation[];
  readonly #secrets: readonly string[];

  constructor(openApi: OpenApi, operations: readonly Operation[], secrets: readonly string[]) {
    this.#openApi = openApi;
    this.#operations = operations;
    this.#secrets = secrets;
  }

  /** The operation that the OpenAPI document has for the request, or another one of its path, if any. */
  findOperation({ target, method }: Pick<FuzzRequest, 'target' | 'method'>): Operation | undefined {
    // Many clients end the address of tools with a slash.
    const path = decodeUnreserved(target).replace(/^((?:https?:\/\/[^/]*)?\/mcp)\/(?=\?|$)/, '$1');
    const template = this.#openApi.templateOf(path);
    const all = this.#operations.filter((one) => one.template === template);
    return all.find((one) => one.method === documented(method)) ?? all[0];
  }

  /** What is wrong with the response; undefined if nothing is. */
  findProblem(request: FuzzRequest, answer: RawResponse): string | undefined {
    try {
      const operation = this.findOperation(request);
      const text = answer.body.toString('utf8');
      return (
        expectationProblem(request, answer, operation) ??
        headersProblem(answer) ??
        this.#textProblem(request, answer, operation, text) ??
        this.#documentProblem(request, answer, operation, text)
      );
    } catch (error) {
      return (error as Error).message;
    }
  }

  #textProblem(
    { method, bytes }: FuzzRequest,
    { status, headers, body }: RawResponse,
    operation: Operation | undefined,
    text: string,
  ): string | undefined {
    if (this.#secrets.some((secret) => text.includes(secret))) return 'the response contains a key';
    if (status < 400) return undefined;
    if (INTERNALS.test(text)) return 'the error contains internals of the service';
    const type = headers['content-type'];
    const mayBePage = operation === undefined && /^accept:.*text\/html/im.test(bytes.toString('latin1'));
    if (mayBePage && isMissingPage(status, type)) return undefined;
    if (type === PROTOBUF && OTLP.test(operation?.template ?? '')) {
      // A `google.rpc.Status`, whose second field is the message.
      return body[0] === 0x12 && body.length > 2 ? undefined : 'the error is not a Status of protobuf';
    }
    if (type !== 'application/json; charset=utf-8') return `the error has the type ${type}`;
    if (method === 'HEAD' || OAUTH_ERROR.test(text)) return undefined;
    this.#openApi.requireValid(JSON.parse(text), ...errorOf(operation, text));
    return undefined;
  }

  #documentProblem(
    { method, target, cut }: FuzzRequest,
    { status, headers }: RawResponse,
    operation: Operation | undefined,
    text: string,
  ): string | undefined {
    // A broken request need not reach the operation that its path names.
    if (ANY_REQUEST.has(status) || cut || method === 'CONNECT') return undefined;
    const path = decodeUnreserved(target);
    const isOwn = documented(method) === operation?.method;
    if (operation === undefined || !isOwn) {
      const allowed = operation === undefined ? OTHER_PATH : OTHER_METHOD;
      const isDashboard = /^(https?:\/\/[^/]*)?\/(api|oauth)\//.test(path);
      if (allowed.has(status) || (isDashboard && DASHBOARD.has(status))) return undefined;
      return `${status} is not documented for it`;
    }
    const place = ['paths', operation.template, operation.method.toLowerCase(), 'responses', String(status)];
    if (at(this.#openApi.document, ...place) === undefined)
      return `the OpenAPI document has no ${status} for it`;
    const contentType = headers['content-type'];
    // Responses to protobuf are protobuf; errors were checked before.
    if (status >= 400 || method === 'HEAD' || contentType === 'application/x-protobuf') return undefined;
    this.#openApi.check({ method, path, status, contentType, text });
    return undefined;
  }
}

/** Where the schema of an error is. */
function errorOf(operation: Operation | undefined, text: string): readonly string[] {
  return operation?.template === '/mcp' && text.startsWith('{"jsonrpc"') ? TOOL_MESSAGE : ERROR;
}

/** The method that the document has for this one. */
function documented(method: string): string {
  return method === 'HEAD' ? 'GET' : method;
}

function expectationProblem(
  { mustSucceed, mustBeRefused, mustNotEnter }: FuzzRequest,
  { status, headers }: RawResponse,
  operation: Operation | undefined,
): string | undefined {
  if (status === 500) return 'the response is 500';
  // A mutated request may have imported another count for the same span.
  const mayConflict = status === 409 && operation?.template.endsWith('/imported-counts') === true;
  if (mustSucceed && status !== 200 && status !== 503 && !mayConflict)
    return `it is valid, but the response is ${status}`;
  if (mustBeRefused && (status < 400 || headers['connection'] !== 'close'))
    return `it must be refused and its connection closed, but the response is ${status}`;
  const isKeyed = operation !== undefined && operation.keys.length > 0;
  // Pages of other sites are refused first.
  const isForeignPage = status === 403 && operation?.template === '/mcp';
  if (mustNotEnter && isKeyed && !isForeignPage && !WITHOUT_KEY.has(status))
    return `it has no valid key, but the response is ${status}`;
  return undefined;
}

function headersProblem({ status, headers }: RawResponse): string | undefined {
  for (const [name, pattern] of Object.entries(HEADERS)) {
    if (!pattern.test(headers[name] ?? '')) return `the response has a wrong ${name}: ${headers[name]}`;
  }
  const [name, pattern] = HEADERS_BY_STATUS[status] ?? [];
  return name !== undefined && pattern?.test(headers[name] ?? '') === false
    ? `the response has a wrong ${name}: ${headers[name]}`
    : undefined;
}

/** Decodes the percent-encoded characters that need no encoding (RFC 3986, section 2.3). */
function decodeUnreserved(target: string): string {
  if (!target.includes('%')) return target;
  return target.replaceAll(/%(2d|2e|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
