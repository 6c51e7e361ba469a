import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, onRequestHookHandler, RouteHandler, RouteOptions } from 'fastify';
import { HttpError } from './errors.js';

/** The options of a route; a handler alone is a route that the OpenAPI document does not have. */
type Operation = Omit<RouteOptions, 'method' | 'url'> | RouteHandler;

const OPERATION_METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** The methods of a path, and the checks that come before all of them. */
export type Resource = { readonly [Method in (typeof OPERATION_METHODS)[number]]?: Operation } & {
  /** Runs before the method is checked: authentication, for example. */
  readonly onRequest?: onRequestHookHandler;
};

/** The methods that some path takes. */
const TAKEN_METHODS: readonly string[] = [...OPERATION_METHODS, 'HEAD'];

/**
 * Stands for all other methods in the router, which knows only methods of HTTP. The router has a tree of paths for each method:
 * thirty trees that say nothing but `405` would take a quarter of a start.
 */
const OTHER_METHOD = 'PROPFIND';

declare module 'node:http' {
  interface IncomingMessage {
    /** The method that the client sent, if no path takes it. */
    sentMethod?: string;
  }
}

/** Lets the router find `OTHER_METHOD` for a method that no path takes. Call it before a request is routed. */
export function routeMethod(request: IncomingMessage): void {
  const { method = '' } = request;
  if (TAKEN_METHODS.includes(method)) return;
  request.sentMethod = method;
  request.method = OTHER_METHOD;
}

/** Gives each request the method that was sent, once it is routed. Call it before other hooks are added. */
export function restoreMethods(app: FastifyInstance): void {
  app.addHttpMethod(OTHER_METHOD, { hasBody: true });
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.sentMethod !== undefined) raw.method = raw.sentMethod;
    done();
  });
}

/**
 * Registers a path: its operations, `HEAD` for every `GET`, and `405` with `Allow` for all other methods. A wrong method is
 * refused before the body is parsed.
 */
export function addResource(app: FastifyInstance, url: string, resource: Resource): void {
  const onRequest = resource.onRequest === undefined ? [] : [resource.onRequest];
  const allowed: string[] = [];
  const takesPost = resource.POST !== undefined && !url.startsWith('/api/');
  for (const method of OPERATION_METHODS) {
    const operation = resource[method];
    if (operation === undefined) continue;
    const methods = method === 'GET' ? [method, 'HEAD'] : [method];
    allowed.push(...methods);
    const options =
      typeof operation === 'function' ? { schema: { hide: true }, handler: operation } : operation;
    const config = { ...options.config, takesPost };
    app.route({ ...options, config, method: methods, url, onRequest });
  }
  refuseOtherMethods(app, url, allowed, onRequest, takesPost);
}

/** Responds with `405` and `Allow` to all methods of a path but the allowed ones, after the hooks in `before`. */
function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: readonly string[],
  before: readonly onRequestHookHandler[],
  takesPost: boolean,
): void {
  const allow = allowed.join(', ');
  app.route({
    method: [...TAKEN_METHODS, OTHER_METHOD].filter((method) => !allowed.includes(method)),
    url,
    schema: { hide: true },
    config: { takesPost },
    onRequest: [
      ...before,
      async ({ method }) => {
        throw new HttpError(405, `This path takes no ${method}; it takes ${allow}.`, { allow });
      },
    ],
    // Never reached: the hook above throws.
    handler: (_request, reply) => reply.callNotFound(),
  });
}
