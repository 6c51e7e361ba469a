import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import type { Logger } from 'pino';
import {
  headerBytesMax,
  headersTimeoutMs,
  lateRequestsIntervalMs,
  lingeringBytesMax,
  lingeringConnectionsMax,
  unparsedBytesMax,
} from '../../domain/limits.js';
import { createConnectionErrors } from '../connection/connection-errors.js';
import { answerHalfClosed } from '../connection/connections.js';
import {
  closeWhileReceiving,
  continueWhenRead,
  createLingeringClose,
  mustCloseAfter,
} from '../connection/lingering-close.js';
import { paceArrivals } from '../connection/paced-arrivals.js';
import { keepTickShape } from '../connection/tick-shape.js';
import { Turns } from '../connection/turns.js';
import { addCompression } from './compression.js';
import { answerError, HttpError } from './errors.js';
import { addSecurityHeaders, securityHeaders } from './headers.js';
import { frameworkLog } from './log.js';
import { restoreMethods, routeMethod } from './resource.js';

/** What is called after errors. */
interface Refusals {
  /** After each error that a route or hook has answered. */
  readonly refused: (request: FastifyRequest, status: number) => void;
  /** After each answer to a request that reaches no route and no hook. */
  readonly malformed: (status: number) => void;
  /** For each connection whose bytes are not HTTP/1. Returns whether it takes the connection. */
  readonly take: (error: Error, socket: Socket, turns: Turns) => boolean;
}

/** Creates an app without routes. Its errors, methods and limits are those of every server of this program. */
export function createFramework(
  log: Logger,
  notFoundMessage: string,
  {
    requestTimeout,
    rewriteUrl = (request) => request.url ?? '',
    publicUrl,
    ...options
  }: FastifyServerOptions & {
    readonly requestTimeout: number;
    /** The public address with the base path, of a proxy, too. */
    readonly publicUrl?: string | undefined;
  },
  refusals?: Refusals,
): FastifyInstance {
  keepTickShape();
  const closeLingering = createLingeringClose({
    connectionsMax: lingeringConnectionsMax,
    bytesMax: lingeringBytesMax,
    timeoutMs: requestTimeout,
  });
  const turns = new Turns(unparsedBytesMax);
  const connectionErrors = createConnectionErrors(closeLingering, {
    security: securityHeaders(publicUrl),
    ...(refusals && { ...refusals, take: (error, socket) => refusals.take(error, socket, turns) }),
  });
  const app: FastifyInstance = Fastify({
    rewriteUrl(request) {
      routeMethod(request);
      return rewriteUrl.call(this, request);
    },
    // `addResource` adds `HEAD` to every `GET`.
    exposeHeadRoutes: false,
    ...options,
    loggerInstance: frameworkLog(log),
    requestTimeout,
    // As long as the longest URL: an id that is too long is an unknown id, not another route.
    routerOptions: { maxParamLength: headerBytesMax },
    http: {
      maxHeaderSize: headerBytesMax,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeout),
      connectionsCheckingInterval: Math.min(lateRequestsIntervalMs, requestTimeout),
      requireHostHeader: false,
    },
    clientErrorHandler: connectionErrors.onClientError,
    frameworkErrors: (error, request, reply) => {
      // The framework runs no hooks before this handler.
      if (mustCloseAfter(request.raw)) reply.header('connection', 'close');
      answerError(error, request, reply.headers(securityHeaders(publicUrl, request.protocol)));
      refusals?.malformed(reply.statusCode);
    },
  });
  answerHalfClosed(app.server);
  connectionErrors.watch(app.server);
  closeWhileReceiving(app.server, closeLingering);
  continueWhenRead(app.server);
  paceArrivals(app.server, turns);
  app.addHook('onSend', (request, reply, payload, done) => {
    if (mustCloseAfter(request.raw)) reply.header('connection', 'close');
    // The framework adds it only for other methods.
    if (payload === undefined && request.method === 'HEAD') reply.header('content-length', 0);
    done(null, payload);
  });
  restoreMethods(app);
  addSecurityHeaders(app, publicUrl);
  addCompression(app);
  app.setErrorHandler((error, request, reply) => {
    answerError(error, request, reply, publicUrl);
    refusals?.refused(request, reply.statusCode);
  });
  const notFound = () => new HttpError(404, notFoundMessage);
  // Before the body is read.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    done(request.is404 ? notFound() : null, payload);
  });
  app.setNotFoundHandler(() => {
    throw notFound();
  });
  return app;
}
