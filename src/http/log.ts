import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';

/** What comes behind the type of a key, in any spelling of a URL, whole or cut. */
const HIDDEN = /(?<=(?:admin|recording)(?:_|%5f))[0-9a-z]{5,}/gi;

/**
 * The log for the framework. What it tells of by itself, each request and where it listens, is for debugging: proxies keep
 * access logs, the counts are the product, and the program says where it listens in its own words.
 */
export function frameworkLog(log: Logger): FastifyBaseLogger {
  const quiet = log.child({}, { serializers: { req: loggedRequest } });
  quiet.info = quiet.debug;
  return quiet;
}

/**
 * What the log says of a request. Not who sent it, and no headers: a key stands in one. Whoever sends it somewhere else by
 * mistake, in the URL for one, does not find it in the log either: no more is left of it than a list of keys shows.
 */
function loggedRequest({ method, url }: FastifyRequest): Readonly<Record<string, string>> {
  return { method, url: withoutKeys(url) };
}

/** The text with no more left of each key than a list of keys shows. */
export function withoutKeys(text: string): string {
  return text.replaceAll(HIDDEN, (hidden) => `${hidden.slice(0, 4)}…`);
}

/** Logs where each request begins and ends, under its id: one logger is for all of them. */
export class RequestLog extends LogController {
  override incomingRequest(request: FastifyRequest): void {
    if (this.isLogDisabled(request)) return;
    request.log.debug({ reqId: request.id, req: request }, 'incoming request');
  }

  override requestCompleted(
    err: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    if (this.isLogDisabled(request)) return;
    const about = { reqId: request.id, res: reply, responseTime: reply.elapsedTime };
    if (err) reply.log.error({ ...about, err }, 'request errored');
    else reply.log.debug(about, 'request completed');
  }
}
