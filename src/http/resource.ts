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
const ROUTED_METHODS: readonly string[] = [...OPERATION_METHODS, 'HEAD'];

/** For the router, stands for all methods that a path does not take. */
export const OTHER_METHOD = 'PROPFIND';

/** The methods of requests that were routed as `OTHER_METHOD`. */
const sentMethods = new WeakMap<IncomingMessage, string>();

/** What the framework made of requests before they were routed again. */
const routedAgain = new WeakSet<FastifyRequest>();

/**
 * Routes the request as `OTHER_METHOD` if no path takes its method, so that it gets `405` instead of `404`. Returns the URL.
 * The router keeps a tree for each method: 28 more of them would take a seventh of the time that the server needs to start.
 */
export function mergeOtherMethods(request: IncomingMessage): string {
  const { method = '', url = '' } = request;
  if (!ROUTED_METHODS.includes(method) && !sentMethods.has(request)) {
    sentMethods.set(request, method);
    request.method = OTHER_METHOD;
  }
  return url;
}

/**
 * Routes a request that matches no route once more, as `OTHER_METHOD`: its path may take other methods. A route for each
 * method that a path does not take would take a fourteenth of the time of a start. Call it before other hooks are added.
 */
export function routeOtherMethods(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { raw, is404, originalUrl } = request;
    if (raw.method === OTHER_METHOD) {
      const sent = sentMethods.get(raw);
      // It has its route. All that follows is about the method that was sent.
      if (sent !== undefined && ROUTED_METHODS.includes(sent)) raw.method = sent;
      return done();
    }
    if (!is404) return done();
    sentMethods.set(raw, request.method);
    routedAgain.add(request);
    raw.method = OTHER_METHOD;
    raw.url = originalUrl;
    reply.hijack();
    app.routing(raw, reply.raw);
  });
}

/** Whether this is about to be routed again, or has been: then another object stands for the request. */
export function isRoutedAgain(request: FastifyRequest): boolean {
  return routedAgain.has(request) || (request.is404 && !sentMethods.has(request.raw));
}

/** The method that the client sent. */
export function sentMethod({ raw, method }: FastifyRequest): string {
  return sentMethods.get(raw) ?? method;
}
