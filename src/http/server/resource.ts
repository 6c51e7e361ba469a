import type { IncomingMessage } from 'node:http';
import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  RouteHandler,
  RouteOptions,
} from 'fastify';
import { HttpError } from './errors.js';

/** The options of a route; a handler alone is a route that the OpenAPI document does not have. */
type Operation = Omit<RouteOptions, 'method' | 'url'> | RouteHandler;

const OPERATION_METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** The methods of a path, and the checks that come before all of them. */
export type Resource = { readonly [Method in (typeof OPERATION_METHODS)[number]]?: Operation } & {
  /** Runs before the method is checked: authentication, for example. */
  readonly onRequest?: onRequestHookHandler;
};

/**
 * Registers a path: its operations, `HEAD` for every `GET`, and `405` with `Allow` for all other methods. A wrong method is
 * refused before the body is parsed.
 */
export function addResource(app: FastifyInstance, url: string, resource: Resource): void {
  const onRequest = resource.onRequest === undefined ? [] : [resource.onRequest];
  const allowed: string[] = [];
  for (const method of OPERATION_METHODS) {
    const operation = resource[method];
    if (operation === undefined) continue;
    allowed.push(method, ...(method === 'GET' ? ['HEAD'] : []));
    const options =
      typeof operation === 'function' ? { schema: { hide: true }, handler: operation } : operation;
    app.route({ ...options, method, url, onRequest });
  }
  refuseOtherMethods(app, url, allowed, onRequest);
}

/** Responds with `405` and `Allow` to all methods of a path but the allowed ones, after the hooks in `before`. */
function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: readonly string[],
  before: readonly onRequestHookHandler[] = [],
): void {
  const allow = allowed.join(', ');
  app.route({
    method: OTHER_METHOD,
    url,
    schema: { hide: true },
    onRequest: [
      ...before,
      async (request) => {
        throw new HttpError(405, `This path takes no ${sentMethod(request)}; it takes ${allow}.`, { allow });
      },
    ],
    // Never reached: the hook above throws.
    handler: (_request, reply) => reply.callNotFound(),
  });
}

/** The methods that some path takes. */
const TAKEN_METHODS: readonly string[] = [...OPERATION_METHODS, 'HEAD'];

/** For the router, stands for all methods that a path does not take. */
export const OTHER_METHOD = 'PROPFIND';

/** The methods of requests that are routed as if they had another. */
const sentMethods = new WeakMap<IncomingMessage, string>();

/** What the framework made of requests before they were routed again. */
const routedAgain = new WeakSet<FastifyRequest>();

/**
 * Routes a request as `GET` if it is `HEAD`, and as `OTHER_METHOD` if no path takes its method, so that it gets `405` instead
 * of `404`. Returns the URL. The router keeps a tree for each method, and the more trees, the longer a start takes.
 */
export function mergeMethods(request: IncomingMessage): string {
  const { method = '', url = '' } = request;
  if (method === 'HEAD') routeAs(request, 'GET');
  else if (!TAKEN_METHODS.includes(method)) routeAs(request, OTHER_METHOD);
  return url;
}

function routeAs(request: IncomingMessage, method: string): void {
  if (!sentMethods.has(request)) sentMethods.set(request, request.method ?? '');
  request.method = method;
}

/**
 * Routes a request that matches no route once more, as `OTHER_METHOD`: its path may take other methods. Routes for all methods
 * that paths do not take would take a fourteenth of the time of a start. Call it before other hooks are added.
 */
export function restoreMethods(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw, originalUrl } = request;
    if (mustRouteAgain(request)) {
      routedAgain.add(request);
      routeAs(raw, OTHER_METHOD);
      raw.url = originalUrl;
      reply.hijack();
      app.routing(raw, reply.raw);
      return;
    }
    // It has its route. All that follows is about the method that was sent.
    const sent = sentMethods.get(raw);
    if (sent !== undefined && TAKEN_METHODS.includes(sent)) raw.method = sent;
    done();
  });
}

/** Whether no route was found, and the request has not been routed again. Valid until the first hook. */
export function mustRouteAgain({ is404, raw }: FastifyRequest): boolean {
  return is404 && raw.method !== OTHER_METHOD;
}

/** Whether the request was routed again: another object stands for it since. */
export function wasRoutedAgain(request: FastifyRequest): boolean {
  return routedAgain.has(request);
}

/** The method that the client sent. */
export function sentMethod({ raw, method }: FastifyRequest): string {
  return sentMethods.get(raw) ?? method;
}
