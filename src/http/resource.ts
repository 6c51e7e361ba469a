import { METHODS } from 'node:http';
import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify';
import { HttpError } from './errors.js';

type Operation = Omit<RouteOptions, 'method' | 'url'>;

/** The methods of a path, and what is checked of a request for it whatever its method. */
export interface Resource {
  readonly GET?: Operation;
  readonly POST?: Operation;
  readonly PATCH?: Operation;
  readonly DELETE?: Operation;
  /** Runs before the method is looked at, as for authentication. */
  readonly onRequest?: onRequestHookHandler;
}

/**
 * Registers a path: its operations, `HEAD` wherever `GET` is, and `405` with `Allow` for every other method that Node
 * can read. Before its body is parsed: a wrong method is wrong whatever it carries.
 */
export function addResource(app: FastifyInstance, url: string, resource: Resource): void {
  const before = resource.onRequest === undefined ? [] : [resource.onRequest];
  const own = (['GET', 'POST', 'PATCH', 'DELETE'] as const).filter(
    (method) => resource[method] !== undefined,
  );
  const allowed = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  for (const method of own) {
    const operation = resource[method];
    if (operation !== undefined) app.route({ ...operation, method, url, onRequest: before });
  }
  refuseOtherMethods(app, url, allowed, before);
}

/** `405` with `Allow` on a path for all methods but those allowed, after the hooks in `before`. */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: readonly string[],
  before: readonly onRequestHookHandler[] = [],
): void {
  const allow = allowed.join(', ');
  app.route({
    method: METHODS.filter((method) => method !== 'CONNECT' && !allowed.includes(method)),
    url,
    schema: { hide: true },
    onRequest: [
      ...before,
      async (request) => {
        throw new HttpError(405, `This path takes no ${request.method}; it takes ${allow}.`, { allow });
      },
    ],
    // Never reached: the hook above answers.
    handler: (_request, reply) => reply.callNotFound(),
  });
}

/** Lets the app route every method that Node can read, so that none of them falls through to "unknown route". */
export function acceptAllMethods(app: FastifyInstance): void {
  const missing = METHODS.filter((method) => method !== 'CONNECT' && !app.supportedMethods.includes(method));
  for (const method of missing) app.addHttpMethod(method, { hasBody: true });
}
