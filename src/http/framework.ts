import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import type { Logger } from 'pino';
import { headerBytesMax, headersTimeoutMs, lateRequestsIntervalMs } from '../domain/limits.js';
import { createConnectionErrors } from './connection/connection-errors.js';
import { answerError, HttpError } from './errors.js';
import { SECURITY_HEADERS } from './headers.js';
import { frameworkLog } from './log.js';
import { acceptAllMethods, mergeOtherMethods } from './resource.js';

/** Creates an app without routes. Its errors, methods and limits are those of every server of this program. */
export function createFramework(
  {
    log,
    requestTimeoutMs,
    notFoundMessage,
    rewriteUrl = (url) => url,
    refused,
  }: {
    readonly log: Logger;
    /** How long a request may take to arrive; then 408. */
    readonly requestTimeoutMs: number;
    readonly notFoundMessage: string;
    /** Changes URLs before routing. */
    readonly rewriteUrl?: (url: string) => string;
    /** Called with the status of each response to a request that reaches no route and no hook. */
    readonly refused?: (status: number) => void;
  },
  options: FastifyServerOptions,
): FastifyInstance {
  const connectionErrors = createConnectionErrors(refused);
  const app: FastifyInstance = Fastify({
    ...options,
    loggerInstance: frameworkLog(log),
    rewriteUrl: (request) => rewriteUrl(mergeOtherMethods(request)),
    requestTimeout: requestTimeoutMs,
    // As long as the longest URL: an id that is too long is an unknown id, not another route.
    routerOptions: { maxParamLength: headerBytesMax },
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(lateRequestsIntervalMs, requestTimeoutMs),
      requireHostHeader: false,
    },
    clientErrorHandler: connectionErrors.onClientError,
    frameworkErrors: (error, request, reply) => {
      // The framework runs no hooks before this handler.
      answerError(error, request, reply.headers(SECURITY_HEADERS));
      refused?.(reply.statusCode);
    },
  });
  connectionErrors.watch(app.server);
  acceptAllMethods(app);
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw new HttpError(404, notFoundMessage);
  });
  return app;
}
